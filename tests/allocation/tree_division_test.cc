// What a table gets by its tree: the limits, and what is not known.
#include "plugin/allocation/tree_division.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace exactbloom::tree {
namespace {

constexpr double kBits = 10.0;

TreeDivision DivisionOf(bool ribbon = false) {
  DivisionOptions options;
  options.layout = FilterKind::kClassic;
  options.bits_per_key = kBits;
  options.ribbon = ribbon;
  return TreeDivision(options);
}

double KeysOf(const std::vector<RunsOfSize>& runs) {
  return std::accumulate(runs.begin(), runs.end(), 0.0, [](double sum, const RunsOfSize& run) {
    return sum + run.keys * run.count;
  });
}

// A flush into a tree whose runs take what `bits_per_key` says.
TreeView FlushInto(std::vector<RunsOfSize> runs, double bits_per_key = kBits) {
  TreeView view;
  view.is_flush = true;
  for (RunsOfSize& run : runs) run.filter_bytes = run.keys * bits_per_key / 8.0;
  view.other_runs = runs;
  view.live_keys = KeysOf(runs);
  view.other_filter_bytes = view.live_keys * bits_per_key / 8.0;
  return view;
}

// A compaction that writes the last run anew, all of it.
TreeView CompactionInto(const std::vector<RunsOfSize>& others, double output_keys) {
  TreeView view;
  view.other_runs = others;
  view.output_keys = output_keys;
  view.live_keys = KeysOf(others) + output_keys;
  view.keys_to_write = output_keys;
  view.other_filter_bytes = KeysOf(others) * kBits / 8.0;
  return view;
}

// The view where no others share a budget, and no jobs run that replace tables.
TreeView Within(double budget_bytes, TreeView view) {
  view.budget_bytes = budget_bytes;
  view.held_filter_bytes = view.other_filter_bytes;
  return view;
}

TEST(TreeDivision, OfAnEmptyTreeIsTheAverage) {
  const TreeDivision division = DivisionOf();
  TreeView view;
  view.is_flush = true;
  const TableShare unknown = division.Share(view, 0.0);
  EXPECT_EQ(unknown.bits_per_key, kBits);
  EXPECT_TRUE(unknown.runs.empty());
  // Smaller runs may come.
  const TableShare first = division.Share(view, 1000.0);
  EXPECT_NEAR(first.bits_per_key, kBits, 0.1 * kBits);
  EXPECT_LE(first.bits_per_key, 1.03 * kBits);
  EXPECT_EQ(first.runs.back().keys, 1000.0);
}

TEST(TreeDivision, GivesSmallRunsMoreAndUsesTheAverage) {
  const TreeDivision division = DivisionOf();
  // The large run has left the small ones their share.
  const TableShare flush = division.Share(FlushInto({{1e4, 2.0}, {1e6, 1.0}}, 9.7), 1e4);
  ASSERT_GE(flush.planned.size(), 3U);
  EXPECT_NEAR(flush.planned.back(), flush.planned[0], 1e-6);
  EXPECT_GT(flush.bits_per_key, kBits + 4.0);
  EXPECT_EQ(flush.bits_per_key, flush.planned.back());
  double used = 0.0;
  for (std::size_t i = 0; i < flush.runs.size(); ++i) {
    used += flush.planned[i] * flush.runs[i].keys * flush.runs[i].count;
  }
  EXPECT_NEAR(used, kBits * KeysOf(flush.runs), 1e-3 * used);

  const TableShare compaction = division.Share(CompactionInto({{1e4, 3.0}}, 1e6), 5e4);
  EXPECT_EQ(compaction.runs.back().keys, 1e6);
  EXPECT_LT(compaction.bits_per_key, kBits);
  EXPECT_GT(compaction.bits_per_key, kBits - 1.0);
}

TEST(TreeDivision, OfAFlushOfUnknownSizeTakesTheTypicalOne) {
  const TreeDivision division = DivisionOf();
  TreeView view = FlushInto({{1e4, 2.0}, {1e6, 1.0}}, 9.7);
  view.typical_flush_keys = 1e4;
  EXPECT_EQ(division.Share(view, 0.0).bits_per_key, division.Share(view, 1e4).bits_per_key);
  EXPECT_LT(division.Share(view, 1e5).bits_per_key, division.Share(view, 1e4).bits_per_key);
}

// What the other runs already take is not taken again, but for a part: they may have too much, and
// other jobs may have written more than the tree shows yet.
TEST(TreeDivision, KeepsTheAverageOfATreeThatHasTooMuch) {
  const TreeDivision division = DivisionOf();
  const std::vector<RunsOfSize> runs = {{1e5, 1.0}, {1e6, 1.0}};
  const auto share_of = [&](double shown, double taken) {
    TreeView view = FlushInto(runs, shown);
    view.other_filter_bytes = view.live_keys * taken / 8.0;
    return division.Share(view, 1e5).bits_per_key;
  };
  const double share = share_of(5.0, 5.0);
  const double less = share_of(12.0, 12.0);
  EXPECT_LT(less, share);
  EXPECT_GT(less, 0.4 * share);
  EXPECT_LT(share_of(9.0, 10.4), share_of(9.0, 9.0) - 1.0);
  // Where the average is just left, it is kept.
  for (const auto& [shown, taken] : {std::pair(10.2, 10.2), std::pair(9.0, 10.4)}) {
    EXPECT_LE((taken * 1.1e6 + share_of(shown, taken) * 1e5) / 1.2e6,
              kMostOverAverage * kBits + 1e-9);
  }
}

TEST(TreeDivision, TakesFiltersOfUnknownSizeForPlannedOnes) {
  const TreeDivision division = DivisionOf();
  const std::vector<RunsOfSize> runs = {{1e5, 1.0}, {1e6, 1.0}};
  const TableShare planned = division.Share(FlushInto(runs, 9.0), 2e4);
  TreeView unknown = FlushInto(runs, 0.0);
  for (RunsOfSize& run : unknown.other_runs) run.unknown_keys = run.keys;
  unknown.other_unknown_keys = 1.1e6;
  EXPECT_NEAR(division.Share(unknown, 2e4).bits_per_key, planned.planned.back(), 1e-9);
}

TEST(TreeDivision, TheLowerLimitRules) {
  const TreeDivision division = DivisionOf();
  const TreeView view = CompactionInto({{1e4, 3.0}}, 1e6);
  const double unlimited = division.Share(Within(100'000'000, view), 5e4).bits_per_key;
  EXPECT_NEAR(division.Share(view, 5e4).bits_per_key, unlimited, 0.05 * unlimited);
  // Half of 2e6 * 10 bits: while all is rewritten the old filters are there, too.
  const TableShare half = division.Share(Within(1'290'000, view), 5e4);
  EXPECT_LT(half.bits_per_key, 0.52 * unlimited);
  EXPECT_GT(half.bits_per_key, 0.3 * unlimited);
  EXPECT_FALSE(half.is_over_budget);
}

TEST(TreeDivision, ABudgetKeepsRoomForTheGrowthThatIsExpected) {
  // The runs that a compaction takes in come again.
  const TreeDivision division = DivisionOf();
  const auto share_of = [&](const std::vector<RunsOfSize>& others) {
    return division.Share(Within(2'400'000, CompactionInto(others, 1e6)), 5e4).bits_per_key;
  };
  const double settled = share_of({});
  const double growing = share_of({{1e5, 4.0}});
  EXPECT_LT(growing, 0.85 * settled);
  EXPECT_GT(growing, 0.3 * settled);
}

TEST(TreeDivision, OthersShareABudget) {
  const TreeDivision division = DivisionOf();
  TreeView view = Within(1'200'000, CompactionInto({{1e4, 3.0}}, 1e6));
  const double alone = division.Share(view, 5e4).bits_per_key;
  view.shared_runs = {{1e6, 1.0, 300'000.0}};
  view.held_filter_bytes += 300'000.0;
  const double beside_one = division.Share(view, 5e4).bits_per_key;
  EXPECT_LT(beside_one, 0.8 * alone);
  EXPECT_GT(beside_one, 0.5 * alone);
  // An empty one takes nothing, and a small one is given more for each key.
  view.shared_runs.push_back({100.0, 1.0, 100.0});
  EXPECT_NEAR(division.Share(view, 5e4).bits_per_key, beside_one, 0.01 * beside_one);
  // What others hold is not there, whatever is planned.
  view.held_filter_bytes += 700'000.0;
  EXPECT_LE(division.Share(view, 5e4).bits_per_key * 1e6 / 8.0, 1'200'000 - view.held_filter_bytes);
}

TEST(TreeDivision, ABudgetIsNeverExceededByWhatIsNew) {
  const TreeDivision division = DivisionOf();
  const auto bits_of = [&](double budget, double bits_per_key) {
    return division.Share(Within(budget, FlushInto({{1e6, 1.0}}, bits_per_key)), 1e4);
  };
  const TableShare full = bits_of(1'250'000.0, kBits);
  EXPECT_TRUE(full.is_over_budget);
  EXPECT_EQ(full.bits_per_key, 0.0);
  // Where it is exceeded already, new tables get the least.
  EXPECT_EQ(bits_of(1'000'000.0, kBits).bits_per_key, kLeastBitsPerKey);
  EXPECT_FALSE(bits_of(1'300'000.0, kBits).is_over_budget);
  // No limit but the average: never below a part of the share.
  EXPECT_GT(division.Share(FlushInto({{1e6, 1.0}}), 1e4).bits_per_key, kBits / 2.0);
  // Near to it a table gets a quarter of what is left: others will come.
  const double left = 8.0 * (kFill * 898'000.0 - 875'000.0);
  EXPECT_NEAR(bits_of(898'000.0, 7.0).bits_per_key * 1e4, left / 4.0, 1e-6);
}

TEST(TreeDivision, WithRibbonLeavesMoreToTheOtherRuns) {
  const TreeView view = FlushInto({{1e4, 2.0}, {1e6, 1.0}}, 8.0);
  const TableShare bloom = DivisionOf().Share(view, 1e4);
  const TableShare ribbon = DivisionOf(/*ribbon=*/true).Share(view, 1e4);
  EXPECT_LT(ribbon.planned[1], bloom.planned[1]);
  EXPECT_GT(ribbon.planned.back(), bloom.planned.back() + 1.0);
}

TEST(TreeDivision, RunsOfAHundredthOfTheKeysGetRibbon) {
  const TreeDivision division = DivisionOf(/*ribbon=*/true);
  TreeView flush = FlushInto({{1e6, 1.0}}, 9.0);
  flush.typical_flush_keys = 2e4;
  EXPECT_TRUE(division.WantsRibbon(flush, 0.0));
  EXPECT_FALSE(DivisionOf().WantsRibbon(flush, 0.0));
  flush.typical_flush_keys = 5e3;
  EXPECT_FALSE(division.WantsRibbon(flush, 0.0));
  EXPECT_TRUE(division.WantsRibbon(CompactionInto({{1e6, 1.0}}, 1e5), 0.0));
  TreeView first;
  first.is_flush = true;
  EXPECT_TRUE(division.WantsRibbon(first, 0.0));
  // A budget is kept by the number of keys, which a flush knows only after they are added.
  flush.typical_flush_keys = 2e4;
  EXPECT_FALSE(division.WantsRibbon(Within(1'000'000, flush), 0.0));
  TreeView joining = CompactionInto({}, 1e6);
  joining.joins_a_run = true;
  EXPECT_FALSE(division.WantsRibbon(Within(1'000'000, joining), 0.0));
}

TEST(TreeDivision, SpendsAllWhereOneRunIsLeft) {
  EXPECT_NEAR(DivisionOf().Share(CompactionInto({}, 1e6), 1e5).bits_per_key, kBits, 1e-6);
  // Under a budget the tree has to be able to grow.
  const TreeView within = Within(1'250'000, CompactionInto({}, 1e6));
  EXPECT_LT(DivisionOf().Share(within, 1e5).bits_per_key, kBits);
}

}  // namespace
}  // namespace exactbloom::tree
