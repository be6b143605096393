// Switching ExactBloom on and off over existing databases.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exactbloom/rebuild_filters.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 4000;
constexpr std::uint64_t kAsked = kKeys - 1;

enum class Stock { kBloom, kRibbon };

PolicyPointer NewStockPolicy(Stock stock) {
  return PolicyPointer(stock == Stock::kBloom ? rocksdb::NewBloomFilterPolicy(10)
                                              : rocksdb::NewRibbonFilterPolicy(10));
}

class Migration : public testing::TestWithParam<std::tuple<FilterKind, Stock, bool>> {
 protected:
  static rocksdb::Options OptionsOf(PolicyPointer policy) {
    rocksdb::BlockBasedTableOptions table_options;
    table_options.filter_policy = std::move(policy);
    if (std::get<2>(GetParam())) PartitionFilters(512, &table_options);
    return OptionsWith(table_options);
  }

  Database OpenWithOurs() const {
    return Open(OptionsOf(NewPolicy(std::get<0>(GetParam()))), directory_.path("db"));
  }
  Database OpenWithStock() const {
    return Open(OptionsOf(NewStockPolicy(std::get<1>(GetParam()))), directory_.path("db"));
  }

 private:
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(
    Policies, Migration,
    testing::Combine(testing::Values(FilterKind::kClassic, FilterKind::kStandard),
                     testing::Values(Stock::kBloom, Stock::kRibbon), testing::Bool()),
    [](const auto& test) {
      std::string name = std::get<0>(test.param) == FilterKind::kClassic ? "Classic" : "Standard";
      name += std::get<1>(test.param) == Stock::kBloom ? "Bloom" : "Ribbon";
      return name + (std::get<2>(test.param) ? "Partitioned" : "Full");
    });

TEST_P(Migration, MixedTablesAllFilterWithOurs) {
  PutAndFlush(*OpenWithStock(), kKeys, "old");
  const Database db = OpenWithOurs();
  PutAndFlush(*db, kKeys, "value");
  ExpectPresent(*db, kKeys, "value");
  ExpectFiltering(AskAbsent(*db, kAsked), 2 * kAsked);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ExpectPresent(*db, kKeys, "value");
  ExpectFiltering(AskAbsent(*db, kAsked), kAsked);
}

TEST_P(Migration, StockFiltersItsOwnOfMixedTables) {
  PutAndFlush(*OpenWithOurs(), kKeys, "old");
  const Database db = OpenWithStock();
  PutAndFlush(*db, kKeys, "value");
  ExpectPresent(*db, kKeys, "value");
  const FilterCounts counts = AskAbsent(*db, kAsked);
  EXPECT_EQ(counts.useful + counts.FalsePositives(), 2 * kAsked);
  EXPECT_GT(static_cast<double>(counts.useful), 0.97 * static_cast<double>(kAsked));
  EXPECT_LE(counts.useful, kAsked);
  // Compaction replaces our blocks, and all of the table filters again.
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ExpectPresent(*db, kKeys, "value");
  ExpectFiltering(AskAbsent(*db, kAsked), kAsked);
}

// Tables without a filter, with built-in filters and with ExactBloom's, in one level.
class Transition : public testing::Test {
 protected:
  static constexpr std::uint64_t kTables = 4;
  static constexpr std::uint64_t kKeysOfTable = 1000;
  static constexpr std::uint64_t kAskedOfTable = kKeysOfTable - 1;

  Transition() {
    const std::vector<PolicyPointer> writers = {
        nullptr, NewStockPolicy(Stock::kBloom),
        PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, /*bloom_before_level=*/-1)),
        NewPolicy(FilterKind::kClassic)};
    for (std::uint64_t i = 0; i < kTables; ++i) {
      PutAndFlush(*OpenWith(writers[i]), kKeysOfTable, "value", i * kKeysOfTable);
    }
  }

  Database OpenWith(PolicyPointer policy) const {
    return Open(OptionsWith(std::move(policy)), directory_.path("db"));
  }

  // The cost of absent keys that lie in the range of table `i` only.
  static FilterCounts AskTable(rocksdb::DB& db, std::uint64_t i) {
    return AskAbsent(db, kAskedOfTable, nullptr, i * kKeysOfTable);
  }

  // Each key costs the read of a data block, unless a filter says that it is absent, and a second
  // one if it lies between two blocks, of which a table has fewer than twenty.
  static void ExpectCostOf(rocksdb::DB& db, std::uint64_t i, bool filtered) {
    const FilterCounts counts = AskTable(db, i);
    EXPECT_GE(counts.data_blocks, kAskedOfTable - counts.useful) << "table " << i;
    EXPECT_LT(counts.data_blocks, kAskedOfTable - counts.useful + 20) << "table " << i;
    if (filtered) {
      ExpectFiltering(counts, kAskedOfTable);
    } else {
      EXPECT_EQ(counts.useful, 0U) << "table " << i;
    }
  }

  // Rewrites the tables that lack the filter of `policy`, one per call, and expects the reads of
  // absent keys to fall from `unfiltered` tables' worth to the false positives, a table's worth at
  // a time.
  static void ExpectFallingCost(rocksdb::DB& db, std::uint64_t unfiltered, std::uint64_t calls) {
    RebuildOptions portion;
    portion.max_tables = 1;
    for (; calls > 0; --calls) {
      std::uint64_t blocks = 0;
      for (std::uint64_t i = 0; i < kTables; ++i) blocks += AskTable(db, i).data_blocks;
      EXPECT_EQ(blocks / kAskedOfTable, unfiltered);
      EXPECT_LT(blocks % kAskedOfTable, kAskedOfTable / 10);
      RebuildResult result = Rebuild(db, portion);
      EXPECT_EQ(result.rewritten_tables, 1U);
      EXPECT_EQ(result.remaining_tables, calls - 1);
      std::uint64_t now = 0;
      for (std::uint64_t i = 0; i < kTables; ++i) now += AskTable(db, i).useful < kAskedOfTable / 2;
      EXPECT_LE(now, unfiltered);
      unfiltered = now;
    }
    EXPECT_EQ(unfiltered, 0U);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(Transition, OnWithReadCostFallingTableByTable) {
  const Database db = OpenWith(NewPolicy(FilterKind::kClassic));
  for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, /*filtered=*/i != 0);
  ExpectFallingCost(*db, /*unfiltered=*/1, /*calls=*/3);
  for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, true);
  ExpectPresent(*db, kTables * kKeysOfTable);
}

TEST_F(Transition, OffWithReadCostFallingTableByTable) {
  const Database db = OpenWith(NewStockPolicy(Stock::kBloom));
  // The table without a filter, and ExactBloom's.
  for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, i != 0 && i != 3);
  ExpectFallingCost(*db, /*unfiltered=*/2, /*calls=*/3);
  for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, true);
  ExpectPresent(*db, kTables * kKeysOfTable);
}

// An ExactBloom table that is open among others while no policy is set costs as much as a table
// without a filter.
TEST_F(Transition, WithoutPolicyNothingFilters) {
  const Database db = OpenWith(nullptr);
  for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, false);
  ExpectPresent(*db, kTables * kKeysOfTable);
}

}  // namespace
}  // namespace exactbloom
