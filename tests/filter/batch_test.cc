// Batches of the view answer as single calls do, whatever their size and the filter's seed.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "filter/kernels/kernel.h"
#include "sample_filters.h"

namespace exactbloom {
namespace {

constexpr std::size_t kMostKeys = 3 * filter::kBatchKeys + 5;

using Parameters = std::tuple<Layout, std::uint64_t>;

class BloomFilterBatches : public testing::TestWithParam<Parameters> {};

INSTANTIATE_TEST_SUITE_P(LayoutsAndSeeds, BloomFilterBatches,
                         testing::Combine(testing::ValuesIn(AllLayouts()),
                                          testing::Values(0, 77, ~std::uint64_t{0})),
                         [](const auto& test) {
                           return NameOf(std::get<0>(test.param)) + "_" +
                                  std::to_string(std::get<1>(test.param));
                         });

// Few bits per key, so that absent keys pass, too; every third key was added.
TEST_P(BloomFilterBatches, AnswerAsSingleCallsDo) {
  const auto [layout, seed] = GetParam();
  BloomFilterBuilder builder = *BloomFilterBuilder::Create({layout, 3.0, seed});
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < kMostKeys; ++i) {
    keys.emplace_back(NumberKey(i).text());
    if (i % 3 == 0) builder.AddKey(keys.back());
  }
  const FilterBlock block = builder.Finish();
  const BloomFilterView view(block.bytes());
  const std::vector<std::string_view> texts(keys.begin(), keys.end());
  std::size_t denied = 0;
  for (std::size_t count = 0; count <= kMostKeys; ++count) {
    std::array<bool, kMostKeys + 1> answers{};
    view.MayContain(texts.data(), count, answers.data());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(answers[i], view.MayContain(keys[i])) << "key " << i << " of " << count;
      ASSERT_TRUE(answers[i] || i % 3 != 0) << "key " << i << " of " << count;
      denied += answers[i] ? 0U : 1U;
    }
    ASSERT_FALSE(answers[count]) << "behind " << count;
  }
  EXPECT_GT(denied, kMostKeys * kMostKeys / 6);  // of half as many answers for absent keys
}

}  // namespace
}  // namespace exactbloom
