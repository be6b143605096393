// The measured rate of RocksDB's own Ribbon filters is the one computed from their slots.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <tuple>

#include "bits_builder_fixture.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/theory/confidence_interval.h"
#include "plugin/block_description.h"

namespace exactbloom {
namespace {

// Keys, and the bits per key of a Bloom filter of the same rate.
class RibbonRate : public testing::TestWithParam<std::tuple<std::uint64_t, double>> {};

INSTANTIATE_TEST_SUITE_P(Sizes, RibbonRate,
                         testing::Combine(testing::Values(1500, 20'000, 100'000),
                                          testing::Values(2.5, 5.0, 7.3, 10.0, 12.5)));

TEST_P(RibbonRate, OfSlotsIsTheMeasuredOne) {
  const auto [keys, bloom_bits] = GetParam();
  const PolicyPointer policy(rocksdb::NewRibbonFilterPolicy(bloom_bits, /*bloom_before_level=*/-1));
  const auto builder = NewBuilder(*policy);
  AddNumbers(*builder, keys);
  const Filter filter = FinishAndVerify(*builder);
  const FilterBlockDescription block = DescribeFilterBlock(filter.contents);
  ASSERT_EQ(block.family, FilterFamily::kRibbon);

  const std::unique_ptr<rocksdb::FilterBitsReader> reader(
      policy->GetFilterBitsReader(filter.contents));
  constexpr std::uint64_t kAsked = 400'000;
  std::uint64_t passed = 0;
  for (std::uint64_t i = keys; i < keys + kAsked; ++i) {
    const rocksdb::Slice key(reinterpret_cast<const char*>(&i), sizeof i);
    passed += reader->MayMatch(key) ? 1 : 0;
  }
  const double rate = RibbonFalsePositiveRateOfSlots(
      block.ribbon_slots, (filter.contents.size() - kRibbonMetadataBytes) * 8);
  const Interval measured = WilsonInterval(passed, kAsked, kZ999);
  EXPECT_TRUE(measured.Contains(rate))
      << rate << " outside " << measured.low << " .. " << measured.high;
  EXPECT_LT(measured.high - measured.low, 0.5 * rate);
}

}  // namespace
}  // namespace exactbloom
