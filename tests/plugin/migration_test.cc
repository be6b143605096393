// Switching ExactBloom on and off over existing databases, and changing its hash_seed.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "listed_filters.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

PolicyPointer NewStockPolicy() { return PolicyPointer(rocksdb::NewBloomFilterPolicy(10)); }

// Tables without a filter, with built-in filters and with ExactBloom's, in one level. The parameter
// is whether filters are partitioned.
class Transition : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::uint64_t kTables = 4;
  static constexpr std::uint64_t kKeysOfTable = 1000;
  static constexpr std::uint64_t kAskedOfTable = kKeysOfTable - 1;

  Transition() {
    const std::vector<PolicyPointer> writers = {
        nullptr, NewStockPolicy(),
        PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, /*bloom_before_level=*/-1)),
        NewPolicy(FilterKind::kClassic)};
    for (std::uint64_t i = 0; i < kTables; ++i) {
      PutAndFlush(*OpenWith(writers[i]), kKeysOfTable, "value", i * kKeysOfTable);
    }
  }

  Database OpenWith(PolicyPointer policy) const {
    rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
    table_options.filter_policy = std::move(policy);
    if (GetParam()) PartitionFilters(512, &table_options);
    return Open(OptionsWith(table_options), directory_.path("db"));
  }

  // Asks for absent keys that lie in the range of table `i` only. Each costs the read of a data
  // block unless a filter denies it, and a second one if it lies
  // between two of the table's fewer than twenty blocks.
  static void ExpectCostOf(rocksdb::DB& db, std::uint64_t i, bool filtered) {
    const FilterCounts counts = AskAbsent(db, kAskedOfTable, nullptr, i * kKeysOfTable);
    EXPECT_GE(counts.data_blocks, kAskedOfTable - counts.useful) << "table " << i;
    EXPECT_LT(counts.data_blocks, kAskedOfTable - counts.useful + 20) << "table " << i;
    if (filtered) {
      ExpectFiltering(counts, kAskedOfTable);
    } else {
      EXPECT_EQ(counts.useful, 0U) << "table " << i;
    }
  }

 private:
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Filters, Transition, testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "Partitioned" : "Full");
});

// To ExactBloom and back: ExactBloom reads the filters of RocksDB, which does not read its.
TEST_P(Transition, TablesFilterOnceTheyAreCompacted) {
  for (const bool is_ours : {true, false}) {
    const Database db = OpenWith(is_ours ? NewPolicy(FilterKind::kClassic) : NewStockPolicy());
    for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, is_ours && i != 0);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, true);
    ExpectPresent(*db, kTables * kKeysOfTable);
  }
}

// Stock RocksDB reads ExactBloom's tables as without a filter, also among others; so does a
// database without a policy.
TEST_P(Transition, FiltersOfOthersAreNotUsed) {
  for (const PolicyPointer& policy : {NewStockPolicy(), PolicyPointer()}) {
    const Database db = OpenWith(policy);
    for (std::uint64_t i = 0; i < kTables; ++i) {
      ExpectCostOf(*db, i, policy != nullptr && i != 0 && i != 3);
    }
    ExpectPresent(*db, kTables * kKeysOfTable);
  }
}

// Every table filters at every step of the way back, and the last one needs no library.
TEST_P(Transition, RocksDBBloomLeavesNoTableWithoutAFilter) {
  PolicyPointer way_back;
  RegisterFilterPolicies();
  ASSERT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, "rocksdb_bloom:10", &way_back).ok());
  const auto expect_all = [](rocksdb::DB& db) {
    for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(db, i, true);
    ExpectPresent(db, kTables * kKeysOfTable);
  };
  {
    const Database db = OpenWith(NewPolicy(FilterKind::kClassic));
    ASSERT_TRUE(ForceCompaction(*db).ok());
  }
  {
    const Database db = OpenWith(way_back);
    expect_all(*db);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    expect_all(*db);
    for (const TableFilter& table : ListTableFilters(*db)) {
      EXPECT_EQ(table.family, FilterFamily::kBloom);
      EXPECT_NEAR(8.0 * static_cast<double>(table.bytes) / kKeysOfTable / kTables, 10.0, 2.0);
    }
  }
  expect_all(*OpenWith(NewStockPolicy()));
}

PolicyPointer PolicyWithSeed(std::uint64_t hash_seed) {
  BloomFilterPolicyOptions options;
  options.hash_seed = hash_seed;
  return PolicyPointer(NewClassicBloomFilterPolicy(options));
}

// Each table keeps the seed that it was written with.
TEST(HashSeed, ChangingItLosesNoKeyAndAllTablesFilter) {
  constexpr std::uint64_t kKeysATable = 3000;
  const TemporaryDirectory directory;
  const std::vector<std::uint64_t> seeds = {0, 12345, ~std::uint64_t{0}, 1};
  std::uint64_t first = 0;
  for (const std::uint64_t seed : seeds) {
    const Database db = Open(OptionsWith(PolicyWithSeed(seed)), directory.path("db"));
    PutAndFlush(*db, kKeysATable, "value", first);
    first += kKeysATable;
    ExpectPresent(*db, first);
  }
  std::set<std::uint64_t> written;
  for (const std::uint64_t seed : {std::uint64_t{777}, std::uint64_t{0}}) {
    const Database db = Open(OptionsWith(PolicyWithSeed(seed)), directory.path("db"));
    ExpectPresent(*db, first);
    // A key between two tables is in the range of neither.
    ExpectFiltering(AskAbsent(*db, first - 1), first - seeds.size());
    for (const TableFilter& table : ListTableFilters(*db)) written.insert(table.hash_seed);
  }
  EXPECT_EQ(written, std::set<std::uint64_t>(seeds.begin(), seeds.end()));
}

}  // namespace
}  // namespace exactbloom
