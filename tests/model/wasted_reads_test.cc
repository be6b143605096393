// Wasted reads: the best division, lookups of present keys, partitions.
#include "src/model/wasted_reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

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

TEST(LeastWastedReads, AreAllOfARunWithoutBits) {
  const std::vector<FilteredRun> runs = {{1000, 0, 0.5}, {9000, 0, 1.0}};
  EXPECT_EQ(LeastWastedReads(BloomKind::kClassic, false, runs), 1.5);
  EXPECT_EQ(LeastWastedReads(BloomKind::kClassic, true, runs), 1.5);
}

// Their bits are divided among the others.
TEST(LeastWastedReads, OfRunsWithoutKeysOrLookupsAreNone) {
  const double expected = LeastWastedReads(BloomKind::kClassic, false, {{1000, 1500, 0.5}});
  EXPECT_EQ(LeastWastedReads(BloomKind::kClassic, false, {{0, 500, 1.0}, {1000, 1000, 0.5}}),
            expected);
  EXPECT_EQ(LeastWastedReads(BloomKind::kClassic, false, {{900, 500, 0.0}, {1000, 1000, 0.5}}),
            expected);
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

std::vector<std::array<double, 3>> Partitions(const PartitionedTables& tables,
                                              std::uint64_t keys_that_fit,
                                              std::uint64_t index_size = 4096) {
  std::vector<std::array<double, 3>> all;
  for (const EqualFilters& filters : PartitionsOf(tables, keys_that_fit, index_size)) {
    all.push_back({filters.count, static_cast<double>(filters.keys), filters.share});
  }
  return all;
}

TEST(PartitionsOf, ATableAreFullOnesAndOneWithTheRest) {
  using Sizes = std::vector<std::array<double, 3>>;
  EXPECT_EQ(Partitions({1, 1000, 1000, 0, 0, false}, 250), (Sizes{{4, 250, 1.0}}));
  EXPECT_EQ(Partitions({2, 2000, 2000, 0, 0, false}, 750), (Sizes{{2, 750, 0.75}, {2, 250, 0.25}}));
  EXPECT_EQ(Partitions({1, 100, 100, 0, 0, false}, 300), (Sizes{{1, 100, 1.0}}));
  EXPECT_EQ(Partitions({1, 100, 100, 0, 0, true}, 300), (Sizes{{1, 100, 1.0}}))
      << "without a neighbour that could share a key";
  // They end with a data block, here of 40 keys; the last one has half as many.
  EXPECT_EQ(Partitions({1, 1300, 1300, 33, 0, false}, 500), (Sizes{{2, 520, 0.8}, {1, 260, 0.2}}));
  // A partition of the index refers to 4 blocks.
  const auto by_index = Partitions({1, 1300, 1300, 33, 33 * 1000, false}, 500);
  ASSERT_EQ(by_index.size(), 2U);
  EXPECT_EQ(by_index[0][0], 8.0);
  EXPECT_EQ(by_index[0][1], 160.0);
  EXPECT_EQ(Partitions({1, 10, 400, 0, 0, false}, 40), (Sizes{{10, 1, 1.0}}));
}

TEST(PartitionsOf, TablesOfOneDataBlockAreOne) {
  using Sizes = std::vector<std::array<double, 3>>;
  EXPECT_EQ(Partitions({1, 100, 100, 1, 0, false}, 30), (Sizes{{1, 100, 1.0}}));
  EXPECT_EQ(Partitions({2, 200, 200, 2, 0, false}, 30), (Sizes{{2, 100, 1.0}}));
  EXPECT_EQ(Partitions({1, 100, 100, 1, 0, true}, 30), (Sizes{{1, 100, 1.0}}))
      << "without a neighbour that could share a key";
}

TEST(PartitionsOf, SeveralTablesAreThoseOfEach) {
  using Sizes = std::vector<std::array<double, 3>>;
  EXPECT_EQ(Partitions({2, 2600, 2600, 66, 0, false}, 500), (Sizes{{4, 520, 0.8}, {2, 260, 0.2}}));
}

TEST(PartitionsOf, AFullPartitionAndTheRestShareKeys) {
  using Sizes = std::vector<std::array<double, 3>>;
  EXPECT_EQ(Partitions({1, 1000, 1000, 0, 0, true}, 750), (Sizes{{1, 752, 0.75}, {1, 251, 0.25}}));
}

// An entry of the index is larger than its partitions are to be.
TEST(PartitionsOf, HaveADataBlockAtLeast) {
  const auto filters = Partitions({1, 1300, 1300, 33, 33 * 5000, false}, 500);
  ASSERT_EQ(filters.size(), 2U);
  EXPECT_EQ(filters[0][0], 32.0);
  EXPECT_EQ(filters[0][1], 40.0);
  EXPECT_EQ(filters[1][0], 1.0);
  EXPECT_EQ(filters[1][1], 20.0);
}

// Half of the partitions of a table have a key more.
TEST(PartitionsOf, AMeanNumberOfKeysIsMadeOfWholeOnes) {
  const auto filters = Partitions({1, 250, 1000, 0, 0, false}, 250);
  ASSERT_EQ(filters.size(), 2U);
  EXPECT_EQ(filters[0], (std::array<double, 3>{2, 62, 0.5}));
  EXPECT_EQ(filters[1], (std::array<double, 3>{2, 63, 0.5}));
}

// As RocksDB 7.8.3 cut tables of these entries, and counted the keys of their partitions.
TEST(PartitionsOf, PrefixesAreThoseOfTheEntriesThatFit) {
  const auto of = [](const PartitionedTables& tables, std::uint64_t keys_that_fit) {
    double full = 0.0;
    double keys = 0.0;
    double last = 0.0;
    for (const auto& [count, of_each, share] : Partitions(tables, keys_that_fit)) {
      const bool is_last = count <= 1.0 && of_each < 0.9 * keys / std::max(1.0, full);
      if (is_last) {
        last += count * of_each;
      } else {
        full += count;
        keys += count * of_each;
      }
    }
    return std::array<double, 3>{full, keys / full, last};
  };
  const auto long_entries = of({1, 1191, 47'657, 1037, 38'526, true}, 2920);
  EXPECT_NEAR(long_entries[0], 16.0, 1e-9);
  EXPECT_NEAR(long_entries[1], 75.5, 0.5);
  EXPECT_NEAR(long_entries[2], 16.0, 1.0);
  const auto short_entries = of({1, 1000, 40'000, 179, 5748, true}, 4891);
  EXPECT_NEAR(short_entries[0], 8.0, 1e-9);
  EXPECT_NEAR(short_entries[1], 125.6, 0.5);
  EXPECT_NEAR(short_entries[2], 13.0, 2.5);
}

}  // namespace
}  // namespace exactbloom::model
