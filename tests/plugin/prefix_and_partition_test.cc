// Prefixes in filters, and filters in partitions: keys and prefixes are counted once, and filters
// have the announced sizes.
#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "bits_builder_fixture.h"
#include "observed_policy.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "statistics.h"

namespace exactbloom {
namespace {

// Ten numbers share a prefix. In every other ten, the five even ones are present.
constexpr std::size_t kTensPrefix = 11;
constexpr std::uint64_t kKeys = 20000;
constexpr std::uint64_t kPrefixes = kKeys / 5;

std::uint64_t PresentNumber(std::uint64_t i) { return i / 5 * 20 + i % 5 * 2; }

TEST(KeysAndPrefixes, AreCountedOnceAndTheRateIsThatOfBothTogether) {
  constexpr FilterKind kKind = FilterKind::kStandard;
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
  EXPECT_EQ(table.filter_size,
            (kKeys + kPrefixes) * 10 / 8 + filter::TrailerBytes(kKeys + kPrefixes, 0));

  const FilterSize size = SizeAtBitsPerKey(kKind, kKeys + kPrefixes, 10);
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

class PartitionSize : public testing::TestWithParam<Layout> {
 protected:
  // The sizes of the partitions of a table with these options, without the last one.
  static std::vector<std::size_t> SizesOfPartitions(std::uint64_t metadata_block_size,
                                                    std::size_t block_size, std::uint64_t keys,
                                                    const std::string& value,
                                                    bool optimized = false) {
    std::vector<std::size_t> sizes;
    const auto observe = [&sizes](char*, std::size_t size) { sizes.push_back(size); };
    rocksdb::BlockBasedTableOptions table_options;
    table_options.filter_policy = std::make_shared<ObservedPolicy>(NewPolicy(GetParam()), observe);
    PartitionFilters(metadata_block_size, &table_options);
    table_options.block_size = block_size;
    table_options.optimize_filters_for_memory = optimized;
    const TemporaryDirectory directory;
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), OptionsWith(table_options));
    EXPECT_TRUE(writer.Open(directory.path("table.sst")).ok());
    for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(writer.Put(KeyOf(i), value).ok());
    EXPECT_TRUE(writer.Finish().ok());
    EXPECT_GT(sizes.size(), 10U);
    if (!sizes.empty()) sizes.pop_back();
    return sizes;
  }
};

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

}  // namespace
}  // namespace exactbloom
