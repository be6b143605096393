// The public behaviour of the builder and the view.
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

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/sizing.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/kernels/kernel.h"

namespace exactbloom {
namespace {

using Options = FilterOptions;

TEST(BloomFilterOptions, AreTakenWithinTheirRangesAndRefusalsNameThem) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bits : {kMinBitsPerKey, kMaxBitsPerKey}) {
    EXPECT_TRUE(FilterBuilder::Create({{}, bits})) << bits;
  }
  for (const double rate : {0.0, kMinTargetRate, kMaxTargetRate}) {
    EXPECT_TRUE(FilterBuilder::Create({{}, 10, 0, rate})) << rate;
  }
  std::vector<std::pair<Options, std::string>> refusals = {
      {{{}, 101}, "bits_per_key is 101, but must be from 0.5 to 100"},
      {{{}, 10, 0, 0.75}, "false_positive_rate is 0.75, but must be from 1e-09 to 0.5"},
      {{{}, 10, 0, 0, 91}, "block_bytes_limit is 91, but must be from 92 to 4294967232"}};
  for (const double bits : {-1.0, 0.0, std::nextafter(kMinBitsPerKey, 0.0),
                            std::nextafter(kMaxBitsPerKey, inf), inf, -inf, nan}) {
    refusals.push_back({{{}, bits}, "bits_per_key"});
  }
  for (const double rate :
       {-0.01, kMinTargetRate / 2, std::nextafter(kMaxTargetRate, 1.0), 1.0, nan}) {
    refusals.push_back({{{}, 10, 0, rate}, "false_positive_rate"});
  }
  for (const auto& [options, message] : refusals) {
    std::string error;
    EXPECT_FALSE(FilterBuilder::Create(options, &error)) << message;
    EXPECT_EQ(error.substr(0, message.size()), message);
  }
}

void AddNumbers(FilterBuilder& builder, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) builder.AddKey(NumberKey(first + i).text());
}

void ExpectNumbers(const FilterView& view, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(view.MayContain(NumberKey(i).text()));
}

class BloomFilter : public testing::TestWithParam<BloomKind> {
 protected:
  static FilterBuilder Builder(double bits_per_key = 10.0, double rate = 0.0,
                               std::uint64_t hash_seed = 0) {
    return *FilterBuilder::Create({GetParam(), bits_per_key, hash_seed, rate});
  }

  // Makes a filter of the numbers below `keys`, for a block of that size if one is given. Expects
  // what the plan says, with the best k and every key, and returns it.
  static FilterDescription Build(FilterBuilder& builder, std::uint64_t keys,
                                 std::optional<std::size_t> block_bytes = std::nullopt) {
    SCOPED_TRACE(testing::Message() << keys << " keys");
    AddNumbers(builder, 0, keys);
    const FilterPlan plan = block_bytes ? *builder.PlanWithin(keys, *block_bytes) : builder.Plan();
    const FilterDescription planned = plan.Description();
    EXPECT_EQ(planned.probes, OptimalProbes(GetParam(), planned.bits, keys));
    EXPECT_EQ(plan.FalsePositiveRate(),
              FalsePositiveRate(GetParam(), planned.bits, keys, planned.probes));
    EXPECT_EQ(plan.BlockBytes(), filter::BlockBytes(planned));
    if (!block_bytes) {
      EXPECT_EQ(builder.BlockBytes(keys), plan.BlockBytes());
    }

    const FilterBlock block = builder.Finish(plan);
    EXPECT_EQ(block.size, plan.BlockBytes());
    const FilterView view(block.bytes());
    EXPECT_EQ(view.Status(), BlockStatus::kUsable);
    const FilterDescription& found = view.Description();
    EXPECT_EQ(found.kind, GetParam());
    EXPECT_EQ(found.keys, keys);
    EXPECT_EQ(found.bits, planned.bits);
    EXPECT_EQ(found.probes, planned.probes);
    EXPECT_EQ(found.hash_seed, builder.options().hash_seed);
    ExpectNumbers(view, keys);
    for (std::uint64_t i = 0; keys == 0 && i < 1000; ++i) {
      EXPECT_FALSE(view.MayContain(NumberKey(i).text()));
    }
    return found;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, BloomFilter, testing::ValuesIn(AllKinds()),
                         [](const auto& test) { return NameOf(test.param); });

// At any bits per key no key is lost.
TEST_P(BloomFilter, HasTheSizeOfItsBitsPerKey) {
  for (const double bits_per_key : {0.5, 0.7, 1.0, 1.5, 3.0, 9.9, 12.5, 33.3, 64.0, 100.0}) {
    SCOPED_TRACE(bits_per_key);
    FilterBuilder builder = Builder(bits_per_key, 0.0, 77);
    for (const std::uint64_t keys : {0, 1, 2, 3, 7, 100, 777, 3000}) {
      const FilterSize size = SizeAtBitsPerKey(GetParam(), keys, bits_per_key);
      const FilterDescription filter = Build(builder, keys);
      EXPECT_EQ(filter.bits, size.bits);
      EXPECT_EQ(filter.probes, size.probes);
      EXPECT_EQ(size.false_positive_rate,
                FalsePositiveRate(GetParam(), size.bits, keys, size.probes));
    }
  }
}

// In whole bytes.
TEST_P(BloomFilter, IsTheSmallestForItsRate) {
  for (const double rate : {0.3, 0.01, 1e-6}) {
    SCOPED_TRACE(rate);
    FilterBuilder builder = Builder(10.0, rate);
    EXPECT_EQ(Build(builder, 0).bits, 8U);
    for (const std::uint64_t keys : {1, 2, 7, 100, 1001}) {
      const FilterDescription filter = Build(builder, keys);
      const auto smallest = SmallestFilter(GetParam(), keys, rate);
      ASSERT_TRUE(smallest);
      EXPECT_EQ(filter.bits, filter::ArrayBytes(smallest->bits) * 8);
      EXPECT_LE(FalsePositiveRate(GetParam(), filter.bits, keys, filter.probes), rate);
    }
  }
}

TEST_P(BloomFilter, FillsABlockOfTheSizeAskedFor) {
  FilterBuilder builder = Builder();
  constexpr std::uint64_t kKeys = 1000;
  for (const std::size_t bytes : {600, 1000, 1297, 1500, 4000}) {
    const std::uint64_t size = filter::BlockBytes(Build(builder, kKeys, bytes));
    EXPECT_EQ(size, bytes);
  }
  EXPECT_FALSE(builder.PlanWithin(kKeys, filter::TrailerBytes(kKeys, 0)));
}

// A plan that was made for other keys loses none, and their number finds its place.
TEST_P(BloomFilter, FinishTakesAnyPlan) {
  FilterBuilder builder = Builder();
  const FilterPlan plan = builder.Plan(10);
  AddNumbers(builder, 0, 1000);
  const FilterBlock block = builder.Finish(plan);
  EXPECT_EQ(block.size, plan.BlockBytes() + 1);
  const FilterView view(block.bytes());
  EXPECT_EQ(view.Description().keys, 1000U);
  EXPECT_EQ(view.Description().bits, plan.Description().bits);
  ExpectNumbers(view, 1000);
}

TEST_P(BloomFilter, KeysThatFitIsTheMostThatFit) {
  const auto expect = [](const FilterBuilder& builder, std::uint64_t bytes) {
    const std::uint64_t keys = builder.KeysThatFit(bytes);
    if (keys > 0) {
      ASSERT_LE(builder.BlockBytes(keys), bytes);
    }
    ASSERT_GT(builder.BlockBytes(keys + 1), bytes);
  };
  for (const double bits_per_key : {0.5, 0.7, 1.0 / 3.0 + 1.0, 3.3, 8.0, 9.9, 10.0, 12.7, 99.9}) {
    SCOPED_TRACE(bits_per_key);
    const FilterBuilder builder = Builder(bits_per_key);
    for (std::uint64_t bytes = 0; bytes < 3000; ++bytes) expect(builder, bytes);
    for (const std::uint64_t bytes :
         {std::uint64_t{1} << 20, (std::uint64_t{1} << 31) + 12345, kBlockBytesLimit - 1}) {
      ASSERT_LE(builder.BlockBytes(builder.KeysThatFit(bytes)), bytes);
    }
    EXPECT_EQ(builder.KeysThatFit(~std::uint64_t{0}), builder.KeysThatFit(kBlockBytesLimit - 1));
  }
  const FilterBuilder by_rate = Builder(10.0, 0.01);
  for (const std::uint64_t bytes : {200, 1000, 4096}) {
    EXPECT_GT(by_rate.KeysThatFit(bytes), 0U);
    expect(by_rate, bytes);
  }
}

// Beyond the block limit the bits per key shrink, and k follows.
TEST(BlockLimit, IsThatOfStockReaders) {
  for (const BloomKind kind : {BloomKind::kClassic, BloomKind::kStandard}) {
    EXPECT_EQ(SizeAtBitsPerKey(kind, 3'400'000'000, 10).bits, 34'000'000'000U);
    for (const auto& [keys, probes] : std::vector<std::pair<std::uint64_t, int>>{
             {3'500'000'000, 7}, {10'000'000'000, 2}, {1'000'000'000'000, 1}}) {
      const FilterSize size = SizeAtBitsPerKey(kind, keys, 10);
      EXPECT_EQ(size.bits / 8 + filter::kMostTrailerBytes, kBlockBytesLimit - 1) << keys;
      EXPECT_EQ(size.probes, probes) << keys;
    }
    constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 53;
    EXPECT_EQ(
        FilterBuilder::Create({kind})->Plan(kMostKeys).BlockBytes(),
        kBlockBytesLimit - 1 - filter::kMostTrailerBytes + filter::TrailerBytes(kMostKeys, 0));
  }
}

TEST_P(BloomFilter, AnyBlockLimitCutsBitsAndKeepsKeys) {
  for (const double rate : {0.0, 0.01}) {
    FilterBuilder builder = *FilterBuilder::Create({GetParam(), 10, 0, rate, 1000});
    const std::uint64_t fitting = builder.KeysThatFit(kBlockBytesLimit);
    EXPECT_FALSE(builder.Plan(fitting).IsCut());
    EXPECT_TRUE(builder.Plan(fitting + 1).IsCut());
    EXPECT_EQ(filter::ArrayBytes(Build(builder, 2 * fitting).bits),
              999 - filter::kMostTrailerBytes);
  }
}

TEST_P(BloomFilter, SuccessiveDuplicatesCountOnce) {
  FilterBuilder builder = Builder();
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
TEST_P(BloomFilter, FinishAndClearForgetAllKeys) {
  const auto add = [](FilterBuilder& builder) {
    builder.AddKey("x");
    builder.AddKeyAndAlternate("ac", "a");
    EXPECT_EQ(builder.KeyCount(), 3U);
    AddNumbers(builder, 1000, 300);
  };
  FilterBuilder fresh = Builder();
  add(fresh);
  const FilterBlock expected = fresh.Finish();
  for (const bool finished : {false, true}) {
    FilterBuilder used = Builder();
    AddNumbers(used, 0, 500);
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

// Their bytes are gone after the call.
TEST_P(BloomFilter, TakesKeysOfAnyLength) {
  FilterBuilder builder = Builder();
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
  EXPECT_EQ(builder.KeyCount(), keys.size());
  const FilterBlock block = builder.Finish();
  const FilterView view(block.bytes());
  for (const std::string& key : keys) EXPECT_TRUE(view.MayContain(key));
  EXPECT_FALSE(view.MayContain(std::string(10'000'001, 'x')));
}

// Whatever the size of the batch and the filter's seed. Few bits per key, so that absent keys pass,
// too; every third key was added.
TEST_P(BloomFilter, BatchesAnswerAsSingleCallsDo) {
  constexpr std::size_t kMostKeys = 3 * filter::kBatchKeys + 5;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{77}, ~std::uint64_t{0}}) {
    FilterBuilder builder = Builder(3.0, 0.0, seed);
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
