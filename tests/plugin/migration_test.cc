// Switching ExactBloom on and off over existing databases.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <string>
#include <tuple>

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
    if (std::get<2>(GetParam())) {
      table_options.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
      table_options.partition_filters = true;
      table_options.metadata_block_size = 512;
    }
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

TEST_P(Migration, StockTablesKeepFilteringWithOurs) {
  PutAndFlush(*OpenWithStock(), kKeys);
  const Database db = OpenWithOurs();
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kAsked), kAsked);
}

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

TEST_P(Migration, StockReadsOurTablesWithoutFiltering) {
  PutAndFlush(*OpenWithOurs(), kKeys);
  const Database db = OpenWithStock();
  ExpectPresent(*db, kKeys);
  const FilterCounts counts = AskAbsent(*db, kAsked);
  EXPECT_EQ(counts.useful, 0U);
  EXPECT_EQ(counts.FalsePositives(), kAsked) << "our block was not found, or not as always-match";
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

TEST_P(Migration, OnOffAndOnAgain) {
  PutAndFlush(*OpenWithOurs(), kKeys);
  ExpectPresent(*OpenWithStock(), kKeys);
  const Database db = OpenWithOurs();
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kAsked), kAsked);
}

}  // namespace
}  // namespace exactbloom
