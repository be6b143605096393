// What RocksDB's counters measure is the exact rate, and it is below that of the built-in filter.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>

#include <cstdint>

#include "exact_rate.h"
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

TEST_P(RateInDatabase, IsBelowTheBuiltInFilters) {
  const FilterCounts ours = Measure(NewPolicy(GetParam(), kBitsPerKey));
  const FilterCounts stock = Measure(PolicyPointer(rocksdb::NewBloomFilterPolicy(kBitsPerKey)));
  EXPECT_LT(ours.FalsePositives(), stock.FalsePositives());
}

}  // namespace
}  // namespace exactbloom
