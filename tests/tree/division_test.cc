// What a table gets by the runs of its tree: the limits, and what is not known.
#include "plugin/live_tree/division.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace exactbloom::tree {
namespace {

using analysis::EqualRuns;

constexpr double kBits = 10.0;

DivisionOptions Options(bool ribbon = false) { return {kBits, ribbon}; }

double KeysOf(const std::vector<EqualRuns>& runs) {
  double keys = 0.0;
  for (const EqualRuns& run : runs) keys += run.keys * run.count;
  return keys;
}

// A job that writes a run anew beside others, whose filters have `bits_per_key`.
TreeView WriteBeside(const std::vector<EqualRuns>& others, double keys,
                     double bits_per_key = kBits) {
  return {others, keys, keys, KeysOf(others) * bits_per_key};
}

Share ShareOf(const TreeView& view, const std::optional<BudgetView>& budget = {},
              const std::vector<EqualRuns>& beside = {}) {
  if (!budget) return Divide(Options(), view);
  Share share = Divide(Options(), view, beside, budget->bound - budget->index_bytes);
  Limit(Options(), view, *budget, share);
  return share;
}

double BitsOf(const TreeView& view, const std::optional<BudgetView>& budget = {}) {
  return ShareOf(view, budget).bits_per_key;
}

TEST(Division, OfAnUnknownRunIsTheAverage) {
  for (const bool ribbon : {false, true}) {
    const Share share = Divide(Options(ribbon), TreeView());
    EXPECT_EQ(share.bits_per_key, kBits);
    EXPECT_TRUE(share.runs.empty());
  }
  EXPECT_NEAR(BitsOf(WriteBeside({}, 1e4)), kBits, 1e-6) << "all of the first run";
}

TEST(Division, GivesSmallRunsMoreAndUsesTheAverage) {
  const Share small = ShareOf(WriteBeside({{1e4, 2.0}, {1e6, 1.0}}, 1e4, 9.7));
  ASSERT_EQ(small.planned.size(), 3U);
  EXPECT_NEAR(small.planned.back(), small.planned[0], 1e-6);
  EXPECT_GT(small.bits_per_key, kBits + 4.0);
  EXPECT_EQ(small.bits_per_key, small.planned.back());
  double used = 0.0;
  for (std::size_t i = 0; i < small.runs.size(); ++i) {
    used += small.planned[i] * small.runs[i].keys * small.runs[i].count;
  }
  EXPECT_NEAR(used, kBits * KeysOf(small.runs), 1e-3 * used);
  const double large = BitsOf(WriteBeside({{1e4, 3.0}}, 1e6));
  EXPECT_LT(large, kBits);
  EXPECT_GT(large, kBits - 1.0);
}

// What other runs already have is not there for the table, down to a part of its share.
TEST(Division, KeepsTheAverageOfTheFamily) {
  const std::vector<EqualRuns> others = {{1e5, 1.0}, {1e6, 1.0}};
  const double share = BitsOf(WriteBeside(others, 1e5, 5.0));
  const double limited = BitsOf(WriteBeside(others, 1e5, 10.2));
  EXPECT_LT(limited, share);
  EXPECT_NEAR((10.2 * 1.1e6 + limited * 1e5) / 1.2e6, kBits + kMostOverAverage, 1e-6);
  const double least = BitsOf(WriteBeside(others, 1e5, 20.0));
  EXPECT_NEAR(least, kLeastPart * share, 0.01 * share);
  // The least is at most the average: a level 0 that piles up has large shares.
  EXPECT_EQ(BitsOf(WriteBeside({{1e3, 20.0}, {1e8, 1.0}}, 1e3, 20.0)), kBits);
}

// Runs above it that are about to be compacted fill the cap.
TEST(Division, ASmallRunKeepsItsShareUpToALimit) {
  const std::vector<EqualRuns> others = {{60'000.0, 1.0}};
  const Share share = ShareOf(WriteBeside(others, 110.0, kBits + kMostOverAverage));
  EXPECT_GT(share.planned.back(), 19.0);
  EXPECT_EQ(share.bits_per_key, share.planned.back());
  const double most = kBits * (1.0 + kMostOfSmallRuns) + kMostOverAverage;
  EXPECT_EQ(BitsOf(WriteBeside(others, 110.0, most + 0.1)), kBits);
  EXPECT_EQ(BitsOf(WriteBeside(others, 1'000.0, kBits + kMostOverAverage + 0.01)), kBits)
      << "it is not small";
}

// As a compacted database that grows: each run has a tenth of the keys of the one before it.
TEST(Division, OfRunsWrittenAfterALargeOneIsNearTheBestDivision) {
  const auto rate = [](double bits) { return std::pow(0.6185, bits); };
  for (const double bits_per_key : {3.0, 4.0, 6.0, 10.0, 20.0}) {
    TreeView view;
    double wasted = 0.0;
    for (const double keys : {1e6, 1e5, 1e4, 1e3}) {
      view.own_keys = view.keys_to_write = keys;
      const double bits = Divide({bits_per_key, false}, view).bits_per_key;
      wasted += rate(bits);
      view.other_runs.push_back({keys});
      view.other_filter_bits += bits * keys;
    }
    const double taken = view.other_filter_bits;
    double best = 0.0;
    for (const double bits : analysis::DivideAmongRuns(view.other_runs, taken)) best += rate(bits);
    EXPECT_LT(wasted, 1.1 * best) << bits_per_key;
    EXPECT_LE(taken, (bits_per_key + 0.501) * KeysOf(view.other_runs));
  }
}

BudgetView Budget(double bound, double held, double keys_to_write) {
  BudgetView budget;
  budget.bound = bound;
  budget.held = held;
  budget.keys_to_write = keys_to_write;
  return budget;
}

TEST(Division, OfABudgetLeavesRoomForOthers) {
  const TreeView view = WriteBeside({{1e4, 3.0}}, 1e6);
  const double unlimited = BitsOf(view);
  EXPECT_EQ(BitsOf(view, Budget(1e8, 0.0, 1e6)), unlimited);
  // The bound divided: .6 of 8e6 bits among 1.03e6 keys.
  EXPECT_NEAR(BitsOf(view, Budget(1e6, 0.0, 1e5)), 0.6 * 8.0 / 1.03, 0.3);
  // What is left beside what is held, less a part of the bound.
  EXPECT_NEAR(BitsOf(view, Budget(1e6, 6e5, 1e6)),
              8.0 * (kFill * 1e6 - 6e5 - kForOthers * 1e6) / 1e6, 1e-9);
  // At least a quarter of it.
  EXPECT_NEAR(BitsOf(view, Budget(1e6, 9e5, 1e6)), 8.0 * kLeastOfRoom * (kFill * 1e6 - 9e5) / 1e6,
              1e-9);
  const Share spent = ShareOf(view, Budget(1e6, 1.1e6, 1e6));
  EXPECT_EQ(spent.bits_per_key, 0.0);
  EXPECT_TRUE(spent.is_budget_spent);
  EXPECT_FALSE(ShareOf(view, Budget(1e6, 6e5, 1e6)).is_budget_spent);
}

// A compaction may be repeated when its outputs, with their equals of next time, fit the bound. Its
// later tables get what is left of that, and so as many bits as the first.
TEST(Division, OfABudgetGivesAllTablesOfACompactionTheSame) {
  constexpr double kKeys = 1e6;
  const auto most_bits = [](double written_keys, double written_bytes) {
    TreeView view = WriteBeside({}, kKeys);
    view.keys_to_write = kKeys - written_keys;
    view.input_filter_bytes = 1e5;
    view.written_filter_bytes = written_bytes;
    BudgetView budget;
    budget.bound = 1e6;
    budget.held = view.input_filter_bytes + written_bytes;
    budget.keys_to_write = view.keys_to_write;
    return ShareOf(view, budget).most_bits_per_key;
  };
  const double first = most_bits(0.0, 0.0);
  EXPECT_NEAR(first, 8.0 * (kFill - kForOthers) / 2.0, 1e-6);
  for (const double part : {0.25, 0.5, 0.75}) {
    EXPECT_NEAR(most_bits(part * kKeys, part * kKeys * first / 8.0), first, 1e-6) << part;
  }
}

TEST(Division, OfABudgetIsDividedAmongAllThatShareIt) {
  const TreeView view = WriteBeside({{1e4, 3.0}}, 1e6);
  const BudgetView budget = Budget(1e6, 0.0, 1e5);
  const double alone = BitsOf(view, budget);
  std::vector<EqualRuns> beside = {{1e6, 1.0}};
  const double beside_one = ShareOf(view, budget, beside).bits_per_key;
  EXPECT_NEAR(beside_one, alone / 2.0, 0.1 * alone);
  beside.push_back({100.0, 1.0});
  EXPECT_NEAR(ShareOf(view, budget, beside).bits_per_key, beside_one, 0.01 * beside_one);
}

// A small run of Ribbon filters gets fewer bits more than one of Bloom filters, since their rate
// falls faster.
TEST(Division, OfASmallRunFollowsTheRateOfItsKind) {
  const auto more = [](bool ribbon) {
    const TreeView view = WriteBeside({{1e6, 1.0, ribbon}}, 1e4, 9.7);
    return Divide(Options(ribbon), view).bits_per_key - kBits;
  };
  // log2(100) bits more at 1 bit for each halving of the rate, and at 1 / ln 2.
  EXPECT_NEAR(more(true), std::log2(100.0), 0.5);
  EXPECT_NEAR(more(false), std::log2(100.0) / std::log(2.0), 0.5);
}

}  // namespace
}  // namespace exactbloom::tree
