// RocksDB's counters show the exact rate, which is below that of the built-in filter.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <tuple>

#include "bits_builder_fixture.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/theory/confidence_interval.h"
#include "plugin/block_description.h"
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
