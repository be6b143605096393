// Switching ExactBloom on and off over existing databases, and changing its hash_seed.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/ribbon_filter.h"
#include "exactbloom/tree_listener.h"
#include "listed_filters.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

// Of RocksDB, without a policy and of earlier builds of ExactBloom, and those of Ribbon filters.
constexpr std::array<const char*, 6> kWriters = {"",
                                                 "bloomfilter:10",
                                                 "ribbonfilter:10:-1",
                                                 "classic_bloom:10",
                                                 "standard_bloom:10",
                                                 "exact_ribbon:10"};
constexpr std::uint64_t kTables = kWriters.size();
constexpr const char* kStock = "bloomfilter:10";

bool IsOfRocksDB(const std::string& policy) {
  return policy == kStock || policy == "ribbonfilter:10:-1";
}

// The filter blocks of a database's tables.
struct Blocks {
  std::uint64_t bloom_of_ours = 0;
  std::uint64_t ribbon_of_ours = 0;
  std::uint64_t others = 0;
  std::set<std::uint64_t> hash_seeds;  // of ours
};

Blocks CountBlocks(rocksdb::DB& db) {
  Blocks blocks;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const rocksdb::LiveFileMetaData& table : tables) {
    TableFilter filter;
    const auto count = [&](rocksdb::Slice block) {
      const std::string_view bytes(block.data(), block.size());
      const RibbonFilterView ribbon(bytes);
      const BloomFilterView bloom(bytes);
      if (ribbon.Status() == BlockStatus::kUsable) {
        ++blocks.ribbon_of_ours;
        blocks.hash_seeds.insert(ribbon.Description().hash_seed);
      } else if (bloom.Status() == BlockStatus::kUsable) {
        ++blocks.bloom_of_ours;
        blocks.hash_seeds.insert(bloom.Description().hash_seed);
      } else {
        ++blocks.others;
      }
    };
    const std::string path = table.directory + "/" + table.relative_filename;
    EXPECT_TRUE(ReadTableFilter(*db.GetFileSystem(), path, &filter, count).ok());
  }
  return blocks;
}

// Tables of kWriters in one level. The parameter is whether filters are partitioned.
class Transition : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::uint64_t kKeysOfTable = 1000;
  static constexpr std::uint64_t kAskedOfTable = kKeysOfTable - 1;

  Transition() {
    RegisterFilterPolicies();
    for (std::uint64_t i = 0; i < kTables; ++i) {
      PutAndFlush(*OpenWith(kWriters.at(i)), kKeysOfTable, "value", i * kKeysOfTable);
    }
  }

  // Without a policy where the text is empty.
  Database OpenWith(const std::string& policy) const {
    rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
    EXPECT_TRUE(
        rocksdb::FilterPolicy::CreateFromString({}, policy, &table_options.filter_policy).ok());
    if (GetParam()) PartitionFilters(512, &table_options);
    rocksdb::Options options = OptionsWith(table_options);
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
    if (policy == "exactbloom:10") options.listeners.push_back(NewTreeListener());
    return Open(options, directory_.path("db"));
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

  static void ExpectAllTablesFilter(rocksdb::DB& db) {
    for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(db, i, true);
  }

  // By Get, MultiGet, and Seek within a prefix.
  static void ExpectNoKeyIsLost(rocksdb::DB& db) {
    constexpr std::uint64_t kKeys = kTables * kKeysOfTable;
    ExpectPresent(db, kKeys);
    MultiGetAll(db, kKeys);
    rocksdb::ReadOptions in_prefix;
    in_prefix.prefix_same_as_start = true;
    const std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(in_prefix));
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      iterator->Seek(KeyOf(2 * i));
      ASSERT_TRUE(iterator->Valid()) << KeyOf(2 * i);
      ASSERT_EQ(iterator->key().ToString(), KeyOf(2 * i));
    }
  }

 private:
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Filters, Transition, testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "Partitioned" : "Full");
});

// ExactBloom reads the filters of RocksDB and of its own earlier builds, and writes its own when
// tables are compacted.
TEST_P(Transition, TablesBecomeNewByCompaction) {
  for (const std::string policy : {"exactbloom:10", "exact_ribbon:10", "classic_bloom:10"}) {
    const Database db = OpenWith(policy);
    if (policy == "exactbloom:10") {
      for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, i != 0);
    } else {
      ExpectAllTablesFilter(*db);
    }
    ExpectNoKeyIsLost(*db);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    ExpectAllTablesFilter(*db);
    ExpectNoKeyIsLost(*db);
    const Blocks blocks = CountBlocks(*db);
    EXPECT_EQ(blocks.others, 0U);
    const bool is_ribbon = policy != "classic_bloom:10";
    EXPECT_EQ(blocks.ribbon_of_ours != 0, is_ribbon);
    // The last partition may have so few keys that a Bloom filter has the lower rate.
    if (is_ribbon) {
      EXPECT_LE(blocks.bloom_of_ours, GetParam() ? 1U : 0U);
    }
  }
}

// Stock RocksDB lets every key pass in ExactBloom's tables, until it compacts them; a database
// without a policy asks no filter.
TEST_P(Transition, StockRocksDBLosesFiltersAndNoKey) {
  for (const char* policy : {"", kStock}) {
    const Database db = OpenWith(policy);
    for (std::uint64_t i = 0; i < kTables; ++i) {
      ExpectCostOf(*db, i, policy == kStock && IsOfRocksDB(kWriters.at(i)));
    }
    ExpectNoKeyIsLost(*db);
  }
  const Database db = OpenWith(kStock);
  ASSERT_TRUE(ForceCompaction(*db).ok());
  ExpectAllTablesFilter(*db);
  ExpectNoKeyIsLost(*db);
}

// Every table filters at every step of the way back, and the last one needs no library.
TEST_P(Transition, RocksDBBloomLeavesNoTableWithoutAFilter) {
  {
    const Database db = OpenWith("rocksdb_bloom:10");
    for (std::uint64_t i = 0; i < kTables; ++i) ExpectCostOf(*db, i, i != 0);
    ExpectNoKeyIsLost(*db);
  }
  ASSERT_TRUE(ForceCompaction(*OpenWith("exactbloom:10")).ok());
  {
    const Database db = OpenWith("rocksdb_bloom:10");
    ExpectAllTablesFilter(*db);
    EXPECT_NE(CountBlocks(*db).ribbon_of_ours, 0U);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    ExpectAllTablesFilter(*db);
    for (const TableFilter& table : ListTableFilters(*db)) {
      EXPECT_EQ(table.family, FilterFamily::kBloom);
      EXPECT_NEAR(8.0 * static_cast<double>(table.bytes) / kKeysOfTable / kTables, 10.0, 2.0);
    }
  }
  const Database db = OpenWith(kStock);
  ExpectAllTablesFilter(*db);
  ExpectNoKeyIsLost(*db);
}

PolicyPointer PolicyWithSeed(bool is_ribbon, std::uint64_t hash_seed) {
  if (is_ribbon) {
    ExactRibbonOptions options;
    options.hash_seed = hash_seed;
    return PolicyPointer(NewExactRibbonFilterPolicy(options));
  }
  BloomFilterPolicyOptions options;
  options.hash_seed = hash_seed;
  return PolicyPointer(NewClassicBloomFilterPolicy(options));
}

// Each table keeps the seed that it was written with, and its kind of filter.
TEST(HashSeed, ChangingItLosesNoKeyAndAllTablesFilter) {
  constexpr std::uint64_t kKeysATable = 3000;
  const TemporaryDirectory directory;
  const std::vector<std::uint64_t> seeds = {0, 12345, ~std::uint64_t{0}, 1};
  std::uint64_t first = 0;
  for (const std::uint64_t seed : seeds) {
    for (const bool is_ribbon : {false, true}) {
      const Database db = Open(OptionsWith(PolicyWithSeed(is_ribbon, seed)), directory.path("db"));
      PutAndFlush(*db, kKeysATable, "value", first);
      first += kKeysATable;
      ExpectPresent(*db, first);
    }
  }
  for (const std::uint64_t seed : {std::uint64_t{777}, std::uint64_t{0}}) {
    const Database db = Open(OptionsWith(PolicyWithSeed(seed == 0, seed)), directory.path("db"));
    ExpectPresent(*db, first);
    // A key between two tables is in the range of neither.
    ExpectFiltering(AskAbsent(*db, first - 1), first - 2 * seeds.size());
    const Blocks blocks = CountBlocks(*db);
    EXPECT_EQ(blocks.bloom_of_ours, seeds.size());
    EXPECT_EQ(blocks.ribbon_of_ours, seeds.size());
    EXPECT_EQ(blocks.hash_seeds, std::set<std::uint64_t>(seeds.begin(), seeds.end()));
  }
}

}  // namespace
}  // namespace exactbloom
