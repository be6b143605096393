// RocksDB's counters show the exact rate of a filter of keys and prefixes; and filters of levels
// and partitions have the announced sizes.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table_properties.h>

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/theory/confidence_interval.h"
#include "listed_filters.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/policy_options.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "sst/table_filters.h"
#include "statistics.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 30000;
constexpr std::uint64_t kAsked = kKeys - 1;
constexpr double kBitsPerKey = 10;

class RateInDatabase : public testing::TestWithParam<BloomKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, RateInDatabase,
                         testing::Values(BloomKind::kClassic, BloomKind::kStandard),
                         [](const auto& test) { return NameOf(test.param); });

// Partitions are cut by the number of keys that fit at the rate, and none exceeds it.
TEST_P(RateInDatabase, OfPartitionsSizedByARateIsAtMostTheRate) {
  constexpr double kRate = 0.01;
  constexpr std::uint64_t kPartitionBytes = 1024;
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy =
      NewFilterPolicy(GetParam() == BloomKind::kClassic ? "{id=classic_bloom;fpr=0.01}"
                                                        : "{id=standard_bloom;fpr=0.01}");
  PartitionFilters(kPartitionBytes, &table_options);
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(table_options), directory.path("db"));
  PutAndFlush(*db, kKeys);
  const FilterCounts counts = AskAbsent(*db, kAsked);
  ASSERT_EQ(counts.useful + counts.FalsePositives(), kAsked);
  const Interval interval = *WilsonInterval(counts.FalsePositives(), kAsked, kZ999);
  EXPECT_LT(interval.low, kRate);
  EXPECT_GT(interval.high, 0.95 * kRate);
  rocksdb::TablePropertiesCollection tables;
  ASSERT_TRUE(db->GetPropertiesOfAllTables(&tables).ok());
  const auto bits = static_cast<double>(SmallestFilter(GetParam(), kKeys, kRate)->bits);
  // A partition has some hundred keys.
  const double trailers = static_cast<double>(filter::TrailerBytes(1000, 0)) / kPartitionBytes;
  EXPECT_NEAR(static_cast<double>(tables.begin()->second->filter_size) / (bits / 8), 1 + trailers,
              0.04);
}

// Ten numbers share a prefix. In every other ten, the five even ones are present.
constexpr std::size_t kTensPrefix = 11;
constexpr std::uint64_t kPrefixes = kKeys / 5;

std::uint64_t PresentNumber(std::uint64_t i) { return i / 5 * 20 + i % 5 * 2; }

TEST(KeysAndPrefixes, AreCountedOnceAndTheRateIsThatOfBothTogether) {
  constexpr BloomKind kKind = BloomKind::kStandard;
  rocksdb::Options options = OptionsWith(NewPolicy(kKind));
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kTensPrefix));
  const TemporaryDirectory directory;
  const Database db = Open(options, directory.path("db"));
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(db->Put({}, KeyOf(PresentNumber(i)), "value").ok());
  }
  ASSERT_TRUE(db->Flush({}).ok());
  rocksdb::TablePropertiesCollection tables;
  ASSERT_TRUE(db->GetPropertiesOfAllTables(&tables).ok());
  ASSERT_EQ(tables.size(), 1U);
  const rocksdb::TableProperties& table = *tables.begin()->second;
  EXPECT_EQ(table.num_filter_entries, kKeys + kPrefixes);
  const FilterSize size = SizeAtBitsPerKey(kKind, kKeys + kPrefixes, 10);
  EXPECT_EQ(table.filter_size, size.bits / 8 + filter::TrailerBytes(kKeys + kPrefixes, 0));
  TakeCounts(*db);
  for (std::uint64_t i = 0; i + 1 < kKeys; ++i) {
    std::string value;
    ASSERT_TRUE(db->Get({}, KeyOf(PresentNumber(i) + 1), &value).IsNotFound());
  }
  const FilterCounts keys = TakeCounts(*db);
  ASSERT_EQ(keys.useful + keys.FalsePositives(), kKeys - 1);
  ExpectExactRate(keys.FalsePositives(), kKeys - 1, kKind, size, kKeys + kPrefixes);

  rocksdb::ReadOptions read_options;
  read_options.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(read_options));
  for (std::uint64_t prefix = 0; prefix + 1 < kPrefixes; ++prefix) {
    iterator->Seek(KeyOf(20 * prefix + 10));
    ASSERT_FALSE(iterator->Valid());
  }
  const FilterCounts prefixes = TakeCounts(*db);
  ASSERT_EQ(prefixes.prefix_checked, kPrefixes - 1);
  ExpectExactRate(prefixes.prefix_checked - prefixes.prefix_useful, kPrefixes - 1, kKind, size,
                  kKeys + kPrefixes);
}

class PartitionSize : public testing::TestWithParam<BloomKind> {
 protected:
  // The sizes of the partitions of a table with these options, without the last one.
  static std::vector<std::size_t> SizesOfPartitions(std::uint64_t metadata_block_size,
                                                    std::size_t block_size, std::uint64_t keys,
                                                    const std::string& value,
                                                    bool optimized = false) {
    rocksdb::BlockBasedTableOptions table_options;
    table_options.filter_policy = NewPolicy(GetParam());
    PartitionFilters(metadata_block_size, &table_options);
    table_options.block_size = block_size;
    table_options.optimize_filters_for_memory = optimized;
    const TemporaryDirectory directory;
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), OptionsWith(table_options));
    const std::string path = directory.path("table.sst");
    EXPECT_TRUE(writer.Open(path).ok());
    for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(writer.Put(KeyOf(i), value).ok());
    EXPECT_TRUE(writer.Finish().ok());
    TableFilter filter;
    std::vector<std::size_t> sizes;
    EXPECT_TRUE(
        ReadTableFilter(*rocksdb::FileSystem::Default(), path, &filter, [&](rocksdb::Slice block) {
          sizes.push_back(block.size());
        }).ok());
    EXPECT_GT(sizes.size(), 10U);
    if (!sizes.empty()) sizes.pop_back();
    return sizes;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, PartitionSize, testing::ValuesIn(BloomKinds()),
                         [](const auto& test) { return NameOf(test.param); });

// Below a cache line nothing fits, as with the built-in filter, and RocksDB looks for the least
// size where something does.
TEST_P(PartitionSize, ATinyMetadataBlockSizeGivesPartitionsOfACacheLine) {
  if (!EXACTBLOOM_ROCKSDB_SINCE(9, 6)) {
    GTEST_SKIP() << "before RocksDB 9.6 a filter's partitions end with those of the index";
  }
  for (const std::uint64_t metadata_block_size : {1U, 60U, 100U}) {
    // Partitions end with data blocks.
    for (const std::size_t size : SizesOfPartitions(metadata_block_size, 100, 3000, "value")) {
      EXPECT_GE(size, 64U) << metadata_block_size;
    }
  }
}

// RocksDB reduces metadata_block_size by a tenth, since it cuts only at the end of a data block.
TEST_P(PartitionSize, PartitionsHaveMetadataBlockSize) {
  for (const bool optimized : {false, true}) {
    const std::vector<std::size_t> sizes =
        SizesOfPartitions(4096, 4096, 40000, std::string(100, 'v'), optimized);
    constexpr double kMeant = 0.9 * 4096;
    const double mean = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), 0UL)) /
                        static_cast<double>(sizes.size());
    EXPECT_NEAR(mean, kMeant, 0.02 * kMeant);
    for (const std::size_t size : sizes) {
      EXPECT_NEAR(static_cast<double>(size), kMeant, 0.05 * kMeant);
    }
  }
}

// Of a settled tree: sorted runs of one table, each with ten times as many keys as the one above.
TEST(LevelSizes, AreThoseOfTheOptions) {
  constexpr std::array<std::uint64_t, 4> kKeysOfRun = {50, 500, 5'000, 50'000};
  std::array<PolicyOptions, 2> cases;
  cases[0].fpr = 0.02;
  cases[1].hash_seed = 99;
  for (const PolicyOptions& options : cases) {
    SCOPED_TRACE(FormatPolicy(options));
    const TemporaryDirectory directory;
    rocksdb::Options with = OptionsWith(std::make_shared<BloomFilterPolicy>(options));
    with.level_compaction_dynamic_level_bytes = false;  // the default of RocksDB 8.4 and later
    const Database db = Open(with, directory.path("db"));
    std::uint64_t first = 0;
    for (std::size_t run = kKeysOfRun.size(); run-- > 0; first += kKeysOfRun[run]) {
      PutAndFlush(*db, kKeysOfRun[run], "value", first);
      MoveDown(*db, static_cast<int>(run) + 1);
    }
    ExpectPresent(*db, first);
    const std::vector<ListedFilter> tables = ListTableFilters(*db);
    ASSERT_EQ(tables.size(), kKeysOfRun.size());
    for (const ListedFilter& table : tables) {
      const auto level = static_cast<std::size_t>(table.level);
      ASSERT_EQ(table.keys, kKeysOfRun.at(level - 1));
      const FilterSize size = options.fpr != 0.0
                                  ? *SmallestFilter(BloomKind::kClassic, table.keys, options.fpr)
                                  : SizeAtBitsPerKey(BloomKind::kClassic, table.keys, 10.0);
      EXPECT_EQ(table.bytes, filter::ArrayBytes(size.bits) +
                                 filter::TrailerBytes(table.keys, options.hash_seed));
      EXPECT_EQ(table.max_probes, size.probes);
      EXPECT_EQ(table.hash_seed, options.hash_seed);
    }
  }
}

}  // namespace
}  // namespace exactbloom
