// The public behaviour of the builder and the view.
#include "exactbloom/bloom_filter.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/kernels/kernel.h"

namespace exactbloom {
namespace {

void AddNumbers(BloomFilterBuilder& builder, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) builder.AddKey(NumberKey(first + i).text());
}

void ExpectNumbers(const BloomFilterView& view, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(view.MayContain(NumberKey(i).text()));
}

class BloomFilter : public testing::TestWithParam<FilterKind> {
 protected:
  static BloomFilterBuilder Builder(double bits_per_key = 10.0) {
    return *BloomFilterBuilder::Create({GetParam(), bits_per_key, 0});
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, BloomFilter,
                         testing::Values(FilterKind::kClassic, FilterKind::kStandard),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(BloomFilter, RefusesOptionsOutOfRange) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int lines = 0; lines <= kMaxLines; ++lines) {
    BloomFilterBuilder::Options options;
    options.layout = {GetParam(), lines};
    const auto expect = [&options](double* option, double value, bool taken) {
      const double before = std::exchange(*option, value);
      EXPECT_EQ(BloomFilterBuilder::Create(options).has_value(), taken) << value;
      *option = before;
    };
    for (const double bad : {-1.0, 0.0, std::nextafter(kMinBitsPerKey, 0.0),
                             std::nextafter(kMaxBitsPerKey, inf), inf, -inf, nan}) {
      expect(&options.bits_per_key, bad, false);
    }
    for (const double bad :
         {-0.01, kMinTargetRate / 2, std::nextafter(kMaxTargetRate, 1.0), 1.0, nan}) {
      expect(&options.false_positive_rate, bad, false);
    }
    expect(&options.bits_per_key, kMinBitsPerKey, true);
    expect(&options.bits_per_key, kMaxBitsPerKey, true);
    expect(&options.false_positive_rate, kMinTargetRate, true);
  }
}

TEST(BloomFilterOptions, RefusalsNameOptionValueAndRange) {
  using Options = BloomFilterBuilder::Options;
  const auto refusal = [](auto change) {
    Options options;
    change(options);
    std::string error;
    EXPECT_FALSE(BloomFilterBuilder::Create(options, &error).has_value());
    return error;
  };
  EXPECT_EQ(refusal([](Options& o) {
              o.layout = {FilterKind::kClassic, 3};
            }),
            "lines is 3, but must be from 0 to 1");
  EXPECT_EQ(refusal([](Options& o) { o.bits_per_key = 101; }),
            "bits_per_key is 101, but must be from 0.5 to 100");
  EXPECT_EQ(refusal([](Options& o) { o.false_positive_rate = 0.75; }),
            "false_positive_rate is 0.75, but must be from 1e-09 to 0.5");
  EXPECT_EQ(refusal([](Options& o) { o.block_bytes_limit = 91; }),
            "block_bytes_limit is 91, but must be from 92 to 4294967232");
}

// At any bits per key no key is lost, and the block is what its plan says.
TEST_P(BloomFilter, FinishKeepsToThePlanAndToEveryKey) {
  constexpr std::uint64_t kSeed = 77;
  for (const double bits_per_key : {0.5, 0.7, 1.0, 1.5, 3.0, 9.9, 12.5, 33.3, 64.0, 100.0}) {
    BloomFilterBuilder builder = *BloomFilterBuilder::Create({GetParam(), bits_per_key, kSeed});
    for (const std::uint64_t keys : {0, 1, 2, 3, 7, 100, 777, 3000}) {
      SCOPED_TRACE(testing::Message() << keys << " keys at " << bits_per_key);
      AddNumbers(builder, 0, keys);
      const BlockPlan plan = builder.Plan();
      const FilterSize size = SizeAtBitsPerKey(GetParam(), keys, bits_per_key);
      EXPECT_EQ(plan.BlockBytes(), size.bits / 8 + filter::TrailerBytes(keys, kSeed));
      EXPECT_EQ(builder.BlockBytes(keys), plan.BlockBytes());
      EXPECT_EQ(plan.FalsePositiveRate(), size.false_positive_rate);
      EXPECT_EQ(size.probes, OptimalProbes(GetParam(), size.bits, keys));
      EXPECT_EQ(size.false_positive_rate,
                FalsePositiveRate(GetParam(), size.bits, keys, size.probes));
      const FilterBlock block = builder.Finish();
      EXPECT_EQ(block.size, plan.BlockBytes());
      const BloomFilterView view(block.bytes());
      ASSERT_EQ(view.Status(), BlockStatus::kUsable);
      EXPECT_EQ(view.Description().layout.kind, GetParam());
      EXPECT_EQ(view.Description().keys, keys);
      EXPECT_EQ(view.Description().bits, size.bits);
      EXPECT_EQ(view.Description().probes, size.probes);
      EXPECT_EQ(view.Description().hash_seed, kSeed);
      ExpectNumbers(view, keys);
    }
  }
}

TEST_P(BloomFilter, FinishAndClearForgetAllKeys) {
  for (const bool finished : {false, true}) {
    BloomFilterBuilder used = Builder();
    AddNumbers(used, 0, 500);
    if (finished) {
      EXPECT_GT(used.Finish().size, 500U);
    } else {
      used.Clear();
    }
    EXPECT_EQ(used.KeyCount(), 0U);
    AddNumbers(used, 1000, 300);
    BloomFilterBuilder fresh = Builder();
    AddNumbers(fresh, 1000, 300);
    EXPECT_EQ(used.Finish().bytes(), fresh.Finish().bytes());
  }
}

TEST_P(BloomFilter, EmptyFilterContainsNothing) {
  BloomFilterBuilder builder = Builder();
  const FilterBlock block = builder.Finish();
  const BloomFilterView view(block.bytes());
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  EXPECT_GT(block.size, 5U) << "stock RocksDB takes shorter blocks as always-miss";
  for (std::uint64_t number = 0; number < 1000; ++number) {
    EXPECT_FALSE(view.MayContain(NumberKey(number).text()));
  }
  EXPECT_FALSE(view.MayContain(""));
}

TEST_P(BloomFilter, SuccessiveDuplicatesCountOnce) {
  BloomFilterBuilder builder = Builder();
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
}

// Their bytes are gone after the call.
TEST_P(BloomFilter, TakesKeysOfAnyLength) {
  BloomFilterBuilder builder = Builder();
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
  const BloomFilterView view(block.bytes());
  for (const std::string& key : keys) EXPECT_TRUE(view.MayContain(key));
  EXPECT_FALSE(view.MayContain(std::string(10'000'001, 'x')));
}

// Sizing.

TEST_P(BloomFilter, SizeRoundsUpToWholeBytes) {
  EXPECT_EQ(SizeAtBitsPerKey(GetParam(), 0, 10).bits, 8U);
  EXPECT_EQ(SizeAtBitsPerKey(GetParam(), 1, 10).bits, 16U);
  EXPECT_EQ(SizeAtBitsPerKey(GetParam(), 4, 10).bits, 40U);
  EXPECT_EQ(SizeAtBitsPerKey(GetParam(), 1'000'000, 9.9).bits, 9'900'000U);
}

TEST_P(BloomFilter, FinishesInAnySizeThatIsAskedFor) {
  constexpr std::uint64_t kKeys = 1000;
  for (int lines = 0; lines <= kMaxLines; ++lines) {
    const Layout layout(GetParam(), lines);
    const std::size_t granularity = lines == 0 ? 1 : kLineBits / 8;
    for (const std::size_t bytes : {600, 1000, 1297, 1500, 4000}) {
      BloomFilterBuilder builder = *BloomFilterBuilder::Create({layout, 10, 0});
      AddNumbers(builder, 0, kKeys);
      const BlockPlan plan = *builder.PlanWithin(kKeys, bytes);
      const FilterDescription expected = plan.Description();
      const FilterBlock block = builder.Finish(plan);
      EXPECT_EQ(block.size, plan.BlockBytes());
      EXPECT_LE(block.size, bytes);
      EXPECT_GT(block.size + granularity, bytes);
      const BloomFilterView view(block.bytes());
      ASSERT_EQ(view.Status(), BlockStatus::kUsable);
      EXPECT_EQ(view.Description().keys, kKeys);
      EXPECT_EQ(view.Description().bits, (block.size - filter::TrailerBytes(kKeys, 0)) * 8);
      EXPECT_EQ(view.Description().bits, expected.bits);
      EXPECT_EQ(view.Description().probes, OptimalProbes(layout, expected.bits, kKeys));
      ExpectNumbers(view, kKeys);
    }
  }
}

// A plan that was made for other keys loses none, and their number finds its place.
TEST_P(BloomFilter, FinishTakesAnyPlan) {
  BloomFilterBuilder builder = Builder();
  const BlockPlan plan = builder.Plan(10);
  AddNumbers(builder, 0, 1000);
  const FilterBlock block = builder.Finish(plan);
  EXPECT_EQ(block.size, plan.BlockBytes() + 1);
  const BloomFilterView view(block.bytes());
  EXPECT_EQ(view.Description().keys, 1000U);
  EXPECT_EQ(view.Description().bits, plan.Description().bits);
  ExpectNumbers(view, 1000);
}

// Beyond the block limit the bits per key shrink, and k follows.
TEST_P(BloomFilter, BlocksStayBelowTheLimit) {
  for (const std::uint64_t keys : {std::uint64_t{3'500'000'000}, std::uint64_t{10'000'000'000},
                                   std::uint64_t{1'000'000'000'000}}) {
    const FilterSize size = SizeAtBitsPerKey(GetParam(), keys, 10);
    EXPECT_EQ(size.bits / 8 + filter::kMostTrailerBytes, kBlockBytesLimit - 1) << keys;
    EXPECT_EQ(size.probes, OptimalProbes(GetParam(), size.bits, keys)) << keys;
  }
  EXPECT_EQ(SizeAtBitsPerKey(GetParam(), 3'400'000'000, 10).bits, 34'000'000'000U);
  EXPECT_EQ(SizeAtBitsPerKey(GetParam(), 3'500'000'000, 10).probes, 7);
  EXPECT_EQ(SizeAtBitsPerKey(GetParam(), 10'000'000'000, 10).probes, 2);  // at 3.4 bits per key
  EXPECT_EQ(SizeAtBitsPerKey(GetParam(), 1'000'000'000'000, 10).probes, 1);
}

TEST_P(BloomFilter, KeysThatFitIsTheMostThatFit) {
  for (const double bits_per_key : {0.5, 0.7, 1.0 / 3.0 + 1.0, 3.3, 8.0, 9.9, 10.0, 12.7, 99.9}) {
    const BloomFilterBuilder builder = Builder(bits_per_key);
    for (std::uint64_t bytes = 0; bytes < 3000; ++bytes) {
      const std::uint64_t keys = builder.KeysThatFit(bytes);
      if (keys > 0) {
        ASSERT_LE(builder.BlockBytes(keys), bytes) << bits_per_key;
      }
      ASSERT_GT(builder.BlockBytes(keys + 1), bytes) << bits_per_key;
    }
    for (const std::uint64_t bytes :
         {std::uint64_t{1} << 20, (std::uint64_t{1} << 31) + 12345, kBlockBytesLimit - 1}) {
      ASSERT_LE(builder.BlockBytes(builder.KeysThatFit(bytes)), bytes);
    }
    EXPECT_EQ(builder.KeysThatFit(~std::uint64_t{0}), builder.KeysThatFit(kBlockBytesLimit - 1));
  }
}

TEST_P(BloomFilter, PlansWithinABlockHaveTheBestProbes) {
  const BloomFilterBuilder builder = Builder();
  const std::size_t trailer_bytes = filter::TrailerBytes(1000, 0);
  EXPECT_DOUBLE_EQ(builder.PlanWithin(1000, trailer_bytes + 1500)->FalsePositiveRate(),
                   SizeAtBitsPerKey(GetParam(), 1000, 12.0).false_positive_rate);
  EXPECT_EQ(builder.PlanWithin(0, filter::kLeastTrailerBytes + 1)->FalsePositiveRate(), 0.0);
  EXPECT_FALSE(builder.PlanWithin(1000, trailer_bytes));
  const std::uint64_t most_keys = std::uint64_t{1} << 53;
  EXPECT_EQ(builder.Plan(most_keys).BlockBytes(),
            kBlockBytesLimit - 1 - filter::kMostTrailerBytes + filter::TrailerBytes(most_keys, 0));
}

// An alternate that was counted in an earlier filter is counted again in the next one.
TEST_P(BloomFilter, AlternatesAreForgottenWithTheKeys) {
  BloomFilterBuilder builder = Builder();
  for (const bool finished : {false, true}) {
    builder.AddKeyAndAlternate("ab", "a");
    if (finished) {
      EXPECT_GT(builder.Finish().size, 0U);
    } else {
      builder.Clear();
    }
    builder.AddKey("x");
    builder.AddKeyAndAlternate("ac", "a");
    EXPECT_EQ(builder.KeyCount(), 3U);
    const FilterBlock block = builder.Finish();
    const BloomFilterView view(block.bytes());
    EXPECT_TRUE(view.MayContain("x") && view.MayContain("ac") && view.MayContain("a"));
    EXPECT_FALSE(view.MayContain("ab"));
  }
}

// Batches of the view answer as single calls do, whatever their size and the filter's seed.

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
