// Builders that size by a rate, and the limit of a block.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"

namespace exactbloom {
namespace {

class SizedByRate : public testing::TestWithParam<Layout> {
 protected:
  static BloomFilterBuilder Builder(double rate) {
    BloomFilterBuilder::Options options;
    options.layout = GetParam();
    options.false_positive_rate = rate;
    return *BloomFilterBuilder::Create(options);
  }

  static FilterDescription BuildAndDescribe(BloomFilterBuilder& builder, std::uint64_t keys) {
    for (std::uint64_t i = 0; i < keys; ++i) builder.AddKey(NumberKey(i).text());
    const FilterBlock block = builder.Finish();
    const BloomFilterView view(block.bytes());
    EXPECT_EQ(view.Status(), BlockStatus::kUsable);
    for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(view.MayContain(NumberKey(i).text()));
    return view.Description();
  }
};

INSTANTIATE_TEST_SUITE_P(Layouts, SizedByRate, testing::ValuesIn(AllLayouts()),
                         [](const auto& test) { return NameOf(test.param); });

// In whole bytes.
TEST_P(SizedByRate, EveryFilterIsTheSmallestForItsKeys) {
  for (const double rate : {0.3, 0.01, 1e-6}) {
    BloomFilterBuilder builder = Builder(rate);
    EXPECT_EQ(BuildAndDescribe(builder, 0).bits,
              std::max<std::uint64_t>(8, GetParam().Granularity()));
    for (const std::uint64_t keys : {1, 2, 7, 100, 1001}) {
      SCOPED_TRACE(testing::Message() << keys << " keys at " << rate);
      const FilterDescription filter = BuildAndDescribe(builder, keys);
      const auto smallest = SmallestFilter(GetParam(), keys, rate);
      ASSERT_TRUE(smallest);
      EXPECT_EQ(filter.bits, filter::ArrayBytes(smallest->bits) * 8);
      EXPECT_EQ(builder.BlockBytes(keys), filter::BlockBytes(filter));
      EXPECT_EQ(filter.probes, OptimalProbes(GetParam(), filter.bits, keys));
      EXPECT_LE(FalsePositiveRate(GetParam(), filter.bits, keys, filter.probes), rate);
    }
  }
}

// No further key fits, and the block has the size in question.
TEST_P(SizedByRate, KeysThatFitAgreeWithTheBlock) {
  for (const std::uint64_t bytes : {200, 1000, 4096}) {
    BloomFilterBuilder builder = Builder(0.01);
    const std::uint64_t keys = builder.KeysThatFit(bytes);
    ASSERT_GT(keys, 0U);
    const auto block_bytes = [&](std::uint64_t n) {
      return filter::BlockBytes(BuildAndDescribe(builder, n));
    };
    EXPECT_LE(block_bytes(keys), bytes);
    EXPECT_GT(block_bytes(keys + 1), bytes);
  }
}

TEST_P(SizedByRate, TheLimitOfABlockCutsBitsAndKeepsKeys) {
  for (const double rate : {0.0, 0.01}) {
    BloomFilterBuilder::Options options;
    options.layout = GetParam();
    options.false_positive_rate = rate;
    options.block_bytes_limit = 1000;
    BloomFilterBuilder builder = *BloomFilterBuilder::Create(options);
    const std::uint64_t fitting = builder.KeysThatFit(kBlockBytesLimit);
    EXPECT_FALSE(builder.Plan(fitting).IsCut());
    EXPECT_TRUE(builder.Plan(fitting + 1).IsCut());
    const FilterDescription filter = BuildAndDescribe(builder, 2 * fitting);
    const std::uint64_t unit = GetParam().ByteGranularity();
    EXPECT_EQ(filter::ArrayBytes(filter.bits), (999 - filter::kMostTrailerBytes) / unit * unit);
    EXPECT_EQ(filter.probes, OptimalProbes(GetParam(), filter.bits, filter.keys));
  }
}

}  // namespace
}  // namespace exactbloom
