// Wasted reads: the best division, lookups of present keys, partitions.
#include "src/model/wasted_reads.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"

namespace exactbloom::model {
namespace {

// The wasted reads of the best of all divisions of the bits between two runs, with Ribbon filters
// so large that their size does not matter, or with Bloom filters.
double BestOfTwo(const std::vector<FilteredRun>& runs, std::uint64_t bits, bool ribbon) {
  const auto wasted = [ribbon](const FilteredRun& run, std::uint64_t of_run) {
    if (of_run == 0) return run.asked;
    if (ribbon) {
      return run.asked * analysis::LargeRibbonRate(static_cast<double>(of_run) / run.keys);
    }
    const auto keys = static_cast<std::uint64_t>(run.keys);
    const int probes = OptimalProbes(BloomKind::kClassic, of_run, keys);
    return run.asked * FalsePositiveRate(BloomKind::kClassic, of_run, keys, probes);
  };
  constexpr std::uint64_t kSteps = 500;
  double best = runs[0].asked + runs[1].asked;
  for (std::uint64_t step = 0; step <= kSteps; ++step) {
    const std::uint64_t first = bits * step / kSteps;
    best = std::min(best, wasted(runs[0], first) + wasted(runs[1], bits - first));
  }
  return best;
}

// A run that covers a part of the key space is asked by a part of the lookups.
TEST(LeastWastedReads, IsTheBestOfAllDivisions) {
  for (const double asked : {1.0, 0.5, 0.02}) {
    SCOPED_TRACE(asked);
    const std::vector<FilteredRun> runs = {{1000, 2000, asked}, {9000, 10500, 1.0}};
    const std::uint64_t bits = 8 * 12500;
    const double best = BestOfTwo(runs, bits, false);
    EXPECT_NEAR(LeastWastedReads(BloomKind::kClassic, false, runs), best, 0.01 * best);
    const double with_ribbon = BestOfTwo(runs, bits, true);
    EXPECT_NEAR(LeastWastedReads(BloomKind::kClassic, true, runs), with_ribbon, 0.02 * with_ribbon);
  }
  EXPECT_EQ(LeastWastedReads(BloomKind::kClassic, false, {}), 0.0);  // no tables
}

TEST(PlanRuns, DividesTheBitsOrWhatABudgetLeaves) {
  const std::vector<analysis::EqualRuns> runs = {{1000, 2, true}, {20'000, 1, true}};
  const auto bits = [&](std::optional<double> bound) {
    const std::vector<double> planned = PlanRuns(10.0, runs, bound);
    EXPECT_GT(planned[0], planned[1]);
    return 2 * 1000 * planned[0] + 20'000 * planned[1];
  };
  EXPECT_NEAR(bits({}), 220'000, 1);
  EXPECT_NEAR(bits(1e6), 220'000, 1);
  EXPECT_NEAR(bits(10'000.0), kBudgetPart * 80'000, 1);
}

TEST(AskedOfRun, IsEachTableOfLevel0AndOneOfALevel) {
  EXPECT_EQ(AskedOfRun(0, 3, 10, 100), 3.0);
  EXPECT_EQ(AskedOfRun(2, 3, 10, 100), 0.1);
  EXPECT_EQ(AskedOfRun(2, 3, 0, 0), 3.0);
}

// Where all lookups miss, all reads are wasted.
TEST(MoreReads, AreAShareOfAllReads) {
  EXPECT_DOUBLE_EQ(MoreReads(0.01, 0.02, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(MoreReads(0.01, 0.02, 0.99), 0.01);
}

TEST(PartitionsOf, ATableAreFullOnesAndOneWithTheRest) {
  const auto sizes = [](std::uint64_t tables, std::uint64_t keys, std::uint64_t entries,
                        std::uint64_t most) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const EqualFilters& filters : PartitionsOf(tables, keys, entries, most)) {
      all.emplace_back(filters.count, filters.keys);
    }
    return all;
  };
  using Sizes = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(sizes(1, 1000, 1000, 300), (Sizes{{3, 900}, {1, 100}}));
  EXPECT_EQ(sizes(2, 2000, 2000, 300), (Sizes{{6, 1800}, {2, 200}}));
  EXPECT_EQ(sizes(1, 600, 600, 300), (Sizes{{2, 600}}));
  EXPECT_EQ(sizes(1, 100, 100, 300), (Sizes{{1, 100}}));
  // 40 entries have one prefix, which a filter has once.
  EXPECT_EQ(sizes(1, 10'000, 400'000, 3080), (Sizes{{129, 9933}, {1, 67}}));
  EXPECT_EQ(sizes(1, 10, 400, 20), (Sizes{{10, 10}})) << "each has a key";
}

}  // namespace
}  // namespace exactbloom::model
