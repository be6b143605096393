// RocksDB's counters measure the exact rate, which is below that of the built-in filter.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table_properties.h>

#include <cstdint>

#include "exact_rate.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/theory/confidence_interval.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 50000;
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
                         [](const auto& test) {
                           return test.param == FilterKind::kClassic ? "Classic" : "Standard";
                         });

TEST_P(RateInDatabase, LiesInTheIntervalOfTheExactRate) {
  const FilterCounts counts = Measure(NewPolicy(GetParam(), kBitsPerKey));
  ASSERT_EQ(counts.useful + counts.FalsePositives(), kAsked);
  ExpectExactRate(counts.FalsePositives(), kAsked, GetParam(), kKeys, kBitsPerKey);
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
  const double trailers = 40.0 / kPartitionBytes;
  EXPECT_NEAR(static_cast<double>(tables.begin()->second->filter_size) / (bits / 8), 1 + trailers,
              0.04);
}

TEST_P(RateInDatabase, IsBelowTheBuiltInFilters) {
  const FilterCounts ours = Measure(NewPolicy(GetParam(), kBitsPerKey));
  const FilterCounts stock = Measure(PolicyPointer(rocksdb::NewBloomFilterPolicy(kBitsPerKey)));
  EXPECT_LT(ours.FalsePositives(), stock.FalsePositives());
}

}  // namespace
}  // namespace exactbloom
