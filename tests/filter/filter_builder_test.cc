// The public behaviour of the builder and the view, whichever kind of filter they make.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exactbloom/filter.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/kernels/kernel.h"

namespace exactbloom {
namespace {

TEST(FilterOptions, AreTakenWithinTheirRangesAndRefusalsNameThem) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bits : {0.0, 1e-300, 0.4, kMaxBitsPerKey}) {
    EXPECT_TRUE(FilterBuilder::Create({{}, bits})) << bits;
  }
  for (const double rate : {0.0, kMinTargetRate, kMaxTargetRate}) {
    EXPECT_TRUE(FilterBuilder::Create({{}, 10, rate})) << rate;
  }
  for (const std::uint64_t limit : {std::uint64_t{100}, kBlockBytesLimit}) {
    EXPECT_TRUE(FilterBuilder::Create({{}, 10, 0, 0, limit})) << limit;
  }
  std::vector<std::pair<FilterOptions, std::string>> refusals = {
      {{{}, 101}, "bits_per_key is 101, but must be from 0 to 100"},
      {{{}, 10, 0.75}, "false_positive_rate is 0.75, but must be from 1e-09 to 0.5"},
      {{{}, 10, 0, 0, 99}, "block_bytes_limit is 99, but must be from 100 to 4294967232"},
      {{{}, 10, 0, 0, kBlockBytesLimit + 1}, "block_bytes_limit is 4294967233, but must be"}};
  for (const double bits : {-1.0, -1e-300, std::nextafter(kMaxBitsPerKey, inf), inf, -inf, nan}) {
    refusals.push_back({{{}, bits}, "bits_per_key is "});
  }
  for (const double rate :
       {-0.01, kMinTargetRate / 2, std::nextafter(kMaxTargetRate, 1.0), 1.0, nan}) {
    refusals.push_back({{{}, 10, rate}, "false_positive_rate is "});
  }
  for (auto& [options, message] : refusals) {
    for (const FilterKind kind : FilterKinds()) {
      options.kind = kind;
      const Result<FilterBuilder> refused = FilterBuilder::Create(options);
      EXPECT_FALSE(refused) << message;
      EXPECT_EQ(refused.Error().substr(0, message.size()), message);
    }
  }
}

// The parameter is the kind, or nothing where the builder chooses.
class AnyFilter : public testing::TestWithParam<std::optional<FilterKind>> {
 protected:
  static FilterBuilder Builder(double bits_per_key = 10.0, double rate = 0.0,
                               std::uint64_t hash_seed = 0) {
    return *FilterBuilder::Create({GetParam(), bits_per_key, rate, hash_seed});
  }

  // Makes a filter of the numbers below `keys`, and expects that it is the planned one.
  static void ExpectPlanned(FilterBuilder& builder, const FilterPlan& plan, std::uint64_t keys) {
    AddNumbers(builder, keys);
    const FilterBlock block = builder.Finish(plan);
    EXPECT_EQ(block.size, plan.BlockBytes());
    const FilterView view(block.bytes());
    ASSERT_EQ(view.Status(), BlockStatus::kUsable);
    EXPECT_EQ(view.Kind(), plan.Kind());
    EXPECT_EQ(plan.Kind(), GetParam().value_or(plan.Kind()));
    ExpectEqual(view.Description(), plan.Description());
    EXPECT_EQ(CountPassing(view, keys), keys);
    if (keys == 0) {
      EXPECT_EQ(CountPassing(view, 1000), 0U);
      EXPECT_EQ(view.FalsePositiveRate(), 0.0);
    }
    EXPECT_EQ(view.CountOnes() != 0, keys != 0 && view.Kind() != FilterKind::kRibbon);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyFilter,
                         testing::Values(FilterKind::kClassicBloom, FilterKind::kStandardBloom,
                                         FilterKind::kRibbon, std::nullopt),
                         [](const auto& test) {
                           return test.param ? NameOf(*test.param) : std::string("Chosen");
                         });

// At any bits per key no key is lost.
TEST_P(AnyFilter, IsTheOneThatWasPlanned) {
  for (const double bits_per_key : {0.0, 0.4, 1.0, 1.1, 3.0, 9.9, 12.5, 33.3, 100.0}) {
    for (const std::uint64_t seed : {0, 77}) {
      FilterBuilder builder = Builder(bits_per_key, 0.0, seed);
      for (const std::uint64_t keys : {0, 1, 2, 3, 7, 100, 260, 777, 3000, 20'000}) {
        SCOPED_TRACE(testing::Message() << bits_per_key << " bits, " << keys << " keys");
        const FilterPlan plan = builder.Plan(keys);
        EXPECT_EQ(plan.Description().hash_seed, seed);
        EXPECT_EQ(builder.BlockBytes(keys), plan.BlockBytes());
        EXPECT_FALSE(plan.IsCut());
        ASSERT_NO_FATAL_FAILURE(ExpectPlanned(builder, plan, keys));
      }
    }
  }
}

// Also where the builder's options have changed since.
TEST_P(AnyFilter, HasTheShapeOfItsPlan) {
  constexpr std::uint64_t kKeys = 1000;
  FilterBuilder builder = Builder();
  for (const std::uint64_t bytes : {100, 500, 600, 1000, 1297, 1500, 4000}) {
    SCOPED_TRACE(bytes);
    const FilterPlan plan = *builder.PlanWithin(kKeys, bytes);
    builder.SetBitsPerKey(3.0);
    ASSERT_NO_FATAL_FAILURE(ExpectPlanned(builder, plan, kKeys));
  }
}

// A plan that was made for other keys loses none, and their number finds its place.
TEST_P(AnyFilter, HasAllKeysByAnyPlan) {
  FilterBuilder builder = Builder();
  for (const std::uint64_t planned : {0U, 10U, 2000U}) {
    const FilterPlan plan = builder.Plan(planned);
    for (const std::uint64_t keys : {0U, 10U, 1999U, 2001U, 40'000U}) {
      SCOPED_TRACE(testing::Message() << keys << " keys by the plan of " << planned);
      AddNumbers(builder, keys);
      const FilterBlock block = builder.Finish(plan);
      const FilterView view(block.bytes());
      ASSERT_EQ(view.Status(), BlockStatus::kUsable);
      EXPECT_EQ(view.Kind(), plan.Kind());
      EXPECT_EQ(view.Description().keys, keys);
      EXPECT_EQ(CountPassing(view, keys), keys);
      if (plan.Kind() == FilterKind::kRibbon) {
        EXPECT_LE(block.size, std::max(plan.BlockBytes(), filter::RibbonTrailerBytes(keys, 0)));
      } else {
        EXPECT_EQ(view.Description().bits, plan.Description().bits);
        EXPECT_EQ(view.Description().probes, plan.Description().probes);
      }
    }
  }
}

TEST(FilterKeys, CountOnceWhereTheyFollowEachOther) {
  FilterBuilder builder = *FilterBuilder::Create({});
  for (const char* key : {"a", "a", "b", "b", "b", "a"}) builder.AddKey(key);
  EXPECT_EQ(builder.KeyCount(), 3U);
  // Duplicates are counted again in the next filter.
  const FilterBlock first = builder.Finish();
  builder.AddKeyAndAlternate("a", "a");
  EXPECT_EQ(builder.KeyCount(), 1U);
  for (const char* key : {"ab", "ac", "ac"}) builder.AddKeyAndAlternate(key, "a");
  EXPECT_EQ(builder.KeyCount(), 3U);
  builder.AddKeyAndAlternate("b", "b");
  builder.AddKeyAndAlternate("ba", "b");
  EXPECT_EQ(builder.KeyCount(), 5U);
  // In a reverse order, a key comes after those that it is the prefix of.
  builder.AddKeyAndAlternate("b", "b");
  EXPECT_EQ(builder.KeyCount(), 5U);
}

// An alternate that was counted in an earlier filter is counted again in the next one.
TEST_P(AnyFilter, ForgetsAllKeysWhenItIsFinishedOrCleared) {
  const auto add = [](FilterBuilder& builder) {
    builder.AddKey("x");
    builder.AddKeyAndAlternate("ac", "a");
    EXPECT_EQ(builder.KeyCount(), 3U);
    AddNumbers(builder, 300, 1000);
  };
  FilterBuilder fresh = Builder();
  add(fresh);
  const FilterBlock expected = fresh.Finish();
  for (const bool finished : {false, true}) {
    FilterBuilder used = Builder();
    AddNumbers(used, 500);
    used.AddKeyAndAlternate("ab", "a");
    if (finished) {
      EXPECT_GT(used.Finish().size, 500U);
    } else {
      used.Clear();
    }
    EXPECT_EQ(used.KeyCount(), 0U);
    add(used);
    EXPECT_EQ(used.Finish().bytes(), expected.bytes());
  }
}

// Their bytes are gone after the call. With a seed short, middle and long ones are hashed in
// different ways.
TEST_P(AnyFilter, TakesKeysOfAnyLength) {
  for (const std::uint64_t seed : {0, 0x5eed}) {
    FilterBuilder builder = Builder(10.0, 0.0, seed);
    std::vector<std::string> keys;
    for (std::size_t length = 0; length < 300; ++length) keys.emplace_back(length, 'k');
    keys.emplace_back(std::size_t{10'000'000}, 'x');
    keys.emplace_back(1, '\0');
    keys.emplace_back(2, '\0');
    std::string buffer;
    for (const std::string& key : keys) {
      buffer = key;
      builder.AddKey(buffer);
    }
    builder.AddKeyAndAlternate("prefix and key", "prefix");
    EXPECT_EQ(builder.KeyCount(), keys.size() + 2);
    const FilterBlock block = builder.Finish();
    const FilterView view(block.bytes());
    for (const std::string& key : keys) EXPECT_TRUE(view.MayContain(key)) << key.size();
    EXPECT_TRUE(view.MayContain("prefix") && view.MayContain("prefix and key"));
    EXPECT_FALSE(view.MayContain(std::string(10'000'001, 'x')));
  }
}

TEST_P(AnyFilter, HasOtherBytesWithAnotherSeed) {
  std::vector<std::string> blocks;
  for (const std::uint64_t seed : {1, 2}) {
    FilterBuilder builder = Builder(10.0, 0.0, seed);
    AddNumbers(builder, 1000);
    blocks.emplace_back(builder.Finish().bytes());
  }
  EXPECT_NE(blocks[0].substr(0, 500), blocks[1].substr(0, 500));
}

// Whatever the size of the batch and the filter's seed. Few bits per key, so that absent keys pass,
// too; every third key was added.
TEST_P(AnyFilter, AnswersBatchesAsSingleCalls) {
  constexpr std::size_t kMostKeys = 3 * filter::kBatchKeys + 5;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{77}, ~std::uint64_t{0}}) {
    FilterBuilder builder = Builder(10.0, 0.1, seed);
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < kMostKeys; ++i) {
      keys.emplace_back(NumberKey(i).text());
      if (i % 3 == 0) builder.AddKey(keys.back());
    }
    const FilterBlock block = builder.Finish();
    const FilterView view(block.bytes());
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
}

}  // namespace
}  // namespace exactbloom
