// RocksDB's counters show the exact rate, which is below that of the built-in filter, also where
// prefixes are keys of filters; and filters in partitions have the announced sizes.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "bits_builder_fixture.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/table_filters.h"
#include "exactbloom/theory/confidence_interval.h"
#include "plugin/block_description.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "statistics.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 30000;
constexpr std::uint64_t kAsked = kKeys - 1;
constexpr double kBitsPerKey = 10;

FilterCounts Measure(PolicyPointer policy) {
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(std::move(policy)), directory.path("db"));
  PutAndFlush(*db, kKeys);
  return AskAbsent(*db, kAsked);
}

class RateInDatabase : public testing::TestWithParam<FilterKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, RateInDatabase,
                         testing::Values(FilterKind::kClassic, FilterKind::kStandard),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(RateInDatabase, IsExactAndBelowThatOfTheBuiltInFilter) {
  const FilterCounts counts = Measure(NewPolicy(GetParam(), kBitsPerKey));
  ASSERT_EQ(counts.useful + counts.FalsePositives(), kAsked);
  ExpectExactRate(counts.FalsePositives(), kAsked, GetParam(),
                  SizeAtBitsPerKey(GetParam(), kKeys, kBitsPerKey), kKeys);
  const FilterCounts stock = Measure(PolicyPointer(rocksdb::NewBloomFilterPolicy(kBitsPerKey)));
  EXPECT_LT(counts.FalsePositives(), stock.FalsePositives());
}

// Partitions are cut by the number of keys that fit at the rate, and none exceeds it.
TEST_P(RateInDatabase, OfPartitionsSizedByARateIsAtMostTheRate) {
  constexpr double kRate = 0.01;
  constexpr std::uint64_t kPartitionBytes = 1024;
  BloomFilterPolicyOptions policy_options;
  policy_options.fpr = kRate;
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy.reset(GetParam() == FilterKind::kClassic
                                        ? NewClassicBloomFilterPolicy(policy_options)
                                        : NewStandardBloomFilterPolicy(policy_options));
  PartitionFilters(kPartitionBytes, &table_options);
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(table_options), directory.path("db"));
  PutAndFlush(*db, kKeys);
  const FilterCounts counts = AskAbsent(*db, kAsked);
  ASSERT_EQ(counts.useful + counts.FalsePositives(), kAsked);
  const Interval interval = WilsonInterval(counts.FalsePositives(), kAsked, kZ999);
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

// Of RocksDB's own Ribbon filters: keys, and the bits per key of a Bloom filter of the same rate.
class RibbonRate : public testing::TestWithParam<std::tuple<std::uint64_t, double>> {};

INSTANTIATE_TEST_SUITE_P(Sizes, RibbonRate,
                         testing::Combine(testing::Values(1500, 20'000, 100'000),
                                          testing::Values(2.5, 7.3, 12.5)));

TEST_P(RibbonRate, ComputedFromTheSlotsIsTheMeasuredOne) {
  const auto [keys, bloom_bits] = GetParam();
  const PolicyPointer policy(rocksdb::NewRibbonFilterPolicy(bloom_bits, /*bloom_before_level=*/-1));
  const auto builder = NewBuilder(*policy);
  AddNumbers(*builder, keys);
  const Filter filter = FinishAndVerify(*builder);
  const FilterBlockDescription block = DescribeFilterBlock(filter.contents);
  ASSERT_EQ(block.family, FilterFamily::kRibbon);

  const std::unique_ptr<rocksdb::FilterBitsReader> reader(
      policy->GetFilterBitsReader(filter.contents));
  constexpr std::uint64_t kAskedOfRibbon = 150'000;
  std::uint64_t passed = 0;
  for (std::uint64_t i = keys; i < keys + kAskedOfRibbon; ++i) {
    const rocksdb::Slice key(reinterpret_cast<const char*>(&i), sizeof i);
    passed += reader->MayMatch(key) ? 1 : 0;
  }
  const double rate = RibbonFalsePositiveRateOfSlots(
      block.ribbon_slots, (filter.contents.size() - kRibbonMetadataBytes) * 8);
  const Interval measured = WilsonInterval(passed, kAskedOfRibbon, kZ999);
  EXPECT_TRUE(measured.Contains(rate))
      << rate << " outside " << measured.low << " .. " << measured.high;
  EXPECT_LT(measured.high - measured.low, 0.5 * rate);
}

}  // namespace
}  // namespace exactbloom
