// Prefixes in filters, and filters in partitions: keys and prefixes are counted once, and the sizes
// are the announced ones.
#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "bits_builder_fixture.h"
#include "filter/block_format.h"
#include "observed_policy.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "sample_filters.h"
#include "statistics.h"

namespace exactbloom {
namespace {

using rocksdb::BlockBasedTableOptions;

BlockBasedTableOptions TableOptions(PolicyPointer policy, std::uint64_t metadata_block_size = 0) {
  BlockBasedTableOptions options = PlannedSizes();
  options.filter_policy = std::move(policy);
  if (metadata_block_size != 0) PartitionFilters(metadata_block_size, &options);
  return options;
}

// Whole keys and prefixes.

// Ten numbers share a prefix. In every other ten, the five even ones are present.
constexpr std::size_t kTensPrefix = 11;
constexpr std::uint64_t kKeys = 40000;
constexpr std::uint64_t kPrefixes = kKeys / 5;

std::uint64_t PresentNumber(std::uint64_t i) { return i / 5 * 20 + i % 5 * 2; }

class KeysAndPrefixes : public testing::TestWithParam<FilterKind> {
 protected:
  rocksdb::Options Options(std::uint64_t metadata_block_size) {
    const auto count_filter = [this](char*, std::size_t) { ++filters_; };
    BlockBasedTableOptions table_options = TableOptions(
        std::make_shared<ObservedPolicy>(NewPolicy(GetParam()), count_filter), metadata_block_size);
    table_options.whole_key_filtering = whole_key_filtering_;
    rocksdb::Options options = OptionsWith(table_options);
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kTensPrefix));
    return options;
  }

  Database Build(std::uint64_t metadata_block_size) {
    Database db = Open(Options(metadata_block_size), directory_.path("db"));
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      EXPECT_TRUE(db->Put({}, KeyOf(PresentNumber(i)), "value").ok());
    }
    EXPECT_TRUE(db->Flush({}).ok());
    return db;
  }

  static rocksdb::TableProperties PropertiesOf(rocksdb::DB& db) {
    rocksdb::TablePropertiesCollection tables;
    EXPECT_TRUE(db.GetPropertiesOfAllTables(&tables).ok());
    EXPECT_EQ(tables.size(), 1U);
    return *tables.begin()->second;
  }

  bool whole_key_filtering_ = true;
  std::uint64_t filters_ = 0;  // that were built

 private:
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, KeysAndPrefixes,
                         testing::Values(FilterKind::kClassic, FilterKind::kStandard));

TEST_P(KeysAndPrefixes, AreCountedOnceAndTheRateIsThatOfBothTogether) {
  const Database db = Build(0);
  const rocksdb::TableProperties table = PropertiesOf(*db);
  EXPECT_EQ(table.num_filter_entries, kKeys + kPrefixes);
  EXPECT_EQ(table.filter_size,
            (kKeys + kPrefixes) * 10 / 8 + filter::TrailerBytes(kKeys + kPrefixes, 0));

  const FilterSize size = SizeAtBitsPerKey(GetParam(), kKeys + kPrefixes, 10);
  TakeCounts(*db);
  for (std::uint64_t i = 0; i + 1 < kKeys; ++i) {
    std::string value;
    ASSERT_TRUE(db->Get({}, KeyOf(PresentNumber(i) + 1), &value).IsNotFound());
  }
  const FilterCounts keys = TakeCounts(*db);
  ASSERT_EQ(keys.useful + keys.FalsePositives(), kKeys - 1);
  ExpectExactRate(keys.FalsePositives(), kKeys - 1, GetParam(), size, kKeys + kPrefixes);

  rocksdb::ReadOptions read_options;
  read_options.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(read_options));
  for (std::uint64_t prefix = 0; prefix + 1 < kPrefixes; ++prefix) {
    iterator->Seek(KeyOf(20 * prefix + 10));
    ASSERT_FALSE(iterator->Valid());
  }
  const FilterCounts prefixes = TakeCounts(*db);
  ASSERT_EQ(prefixes.prefix_checked, kPrefixes - 1);
  ExpectExactRate(prefixes.prefix_checked - prefixes.prefix_useful, kPrefixes - 1, GetParam(), size,
                  kKeys + kPrefixes);
}

// RocksDB 7.8 adds an empty key, too, between the first prefix and its repetition.
TEST_P(KeysAndPrefixes, PrefixesAloneAreCountedOnce) {
  whole_key_filtering_ = false;
  const rocksdb::TableProperties table = PropertiesOf(*Build(0));
  EXPECT_GE(table.num_filter_entries, kPrefixes);
  // RocksDB adds an empty entry behind the first prefix, and then that prefix again.
  EXPECT_LE(table.num_filter_entries, kPrefixes + 2);
}

// A prefix that continues in the next partition belongs to both.
TEST_P(KeysAndPrefixes, AreCountedOnceInAPartition) {
  const Database db = Build(512);
  const rocksdb::TableProperties table = PropertiesOf(*db);
  ASSERT_GT(filters_, 10U);
  EXPECT_GE(table.num_filter_entries, kKeys + kPrefixes);
  EXPECT_LE(table.num_filter_entries, kKeys + kPrefixes + 2 * filters_);
}

// Partitions.

class PartitionSize : public testing::TestWithParam<Layout> {};

INSTANTIATE_TEST_SUITE_P(Layouts, PartitionSize, testing::ValuesIn(AllLayouts()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(PartitionSize, BuildersFillWhatTheyAnnounce) {
  for (const double bits_per_key : {4.4, 10.0, 15.7, 33.0}) {
    const auto builder = NewBuilder(*NewPolicy(GetParam(), bits_per_key));
    for (const std::size_t bytes : {3687U, 7373U, 14746U, 60000U}) {
      AddNumbers(*builder, builder->ApproximateNumEntries(bytes));
      const auto size = static_cast<double>(FinishAndVerify(*builder).contents.size());
      EXPECT_LE(size, bytes);
      EXPECT_GE(size, 0.98 * static_cast<double>(bytes)) << bits_per_key << ' ' << bytes;
    }
  }
}

// Below a cache line nothing fits, as with the built-in filter, and RocksDB looks for the least
// size where something does.
TEST_P(PartitionSize, ATinyMetadataBlockSizeGivesPartitionsOfACacheLine) {
  if (!EXACTBLOOM_ROCKSDB_SINCE(9, 6)) {
    GTEST_SKIP() << "before RocksDB 9.6 a filter's partitions end with those of the index";
  }
  for (const std::uint64_t metadata_block_size : {1U, 48U, 60U, 100U}) {
    std::vector<std::size_t> sizes;
    BlockBasedTableOptions table_options = TableOptions(
        std::make_shared<ObservedPolicy>(NewPolicy(GetParam()),
                                         [&](char*, std::size_t size) { sizes.push_back(size); }),
        metadata_block_size);
    table_options.block_size = 100;  // partitions end with data blocks
    const TemporaryDirectory directory;
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), OptionsWith(table_options));
    ASSERT_TRUE(writer.Open(directory.path("table.sst")).ok());
    for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_TRUE(writer.Put(KeyOf(i), "value").ok());
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_GT(sizes.size(), 10U);
    sizes.pop_back();  // the rest
    for (const std::size_t size : sizes) EXPECT_GE(size, 64U) << metadata_block_size;
  }
}

// RocksDB reduces metadata_block_size by a tenth, since it cuts only at the end of a data block.
TEST_P(PartitionSize, PartitionsHaveMetadataBlockSize) {
  for (const bool optimized : {false, true}) {
    std::vector<std::size_t> sizes;
    BlockBasedTableOptions table_options = TableOptions(
        std::make_shared<ObservedPolicy>(NewPolicy(GetParam()),
                                         [&](char*, std::size_t size) { sizes.push_back(size); }),
        4096);
    table_options.block_size = 4096;
    table_options.optimize_filters_for_memory = optimized;
    const TemporaryDirectory directory;
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), OptionsWith(table_options));
    ASSERT_TRUE(writer.Open(directory.path("table.sst")).ok());
    const std::string value(100, 'v');
    for (std::uint64_t i = 0; i < 40000; ++i) ASSERT_TRUE(writer.Put(KeyOf(i), value).ok());
    ASSERT_TRUE(writer.Finish().ok());

    constexpr double kMeant = 0.9 * 4096;
    ASSERT_GT(sizes.size(), 12U);
    sizes.pop_back();  // the rest
    const double mean = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), 0UL)) /
                        static_cast<double>(sizes.size());
    EXPECT_NEAR(mean, kMeant, 0.02 * kMeant);
    for (const std::size_t size : sizes) {
      EXPECT_NEAR(static_cast<double>(size), kMeant, 0.05 * kMeant);
    }
  }
}

}  // namespace
}  // namespace exactbloom
