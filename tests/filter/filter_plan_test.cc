// Which kind and size of filter a number of keys gets by a builder's options.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/sizing.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/filter_planner.h"

namespace exactbloom {
namespace {

using filter::RibbonTrailerBytes;
using filter::TrailerBytes;

FilterBuilder BuilderOf(std::optional<FilterKind> kind, double bits_per_key, double rate = 0.0,
                        std::uint64_t hash_seed = 0) {
  return *FilterBuilder::Create({kind, bits_per_key, rate, hash_seed});
}

std::uint64_t Lines(std::uint64_t keys, double bits_per_key) {
  const double lines = std::ceil(static_cast<double>(keys) * bits_per_key / (8.0 * kLineBytes));
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(lines));
}

class BloomPlan : public testing::TestWithParam<BloomKind> {
 protected:
  static FilterBuilder Builder(double bits_per_key, double rate = 0.0,
                               std::uint64_t hash_seed = 0) {
    return BuilderOf(ToFilterKind(GetParam()), bits_per_key, rate, hash_seed);
  }

  static void ExpectBestProbes(const FilterPlan& plan) {
    const FilterDescription& filter = plan.Description();
    EXPECT_EQ(filter.probes, OptimalProbes(GetParam(), filter.bits, filter.keys));
    EXPECT_EQ(plan.FalsePositiveRate(),
              FalsePositiveRate(GetParam(), filter.bits, filter.keys, filter.probes));
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, BloomPlan, testing::ValuesIn(BloomKinds()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(BloomPlan, IsWholeLinesForEachNumberOfKeysAndATrailer) {
  for (const double bits_per_key : {0.0, 0.4, 3.3, 4.0, 10.0, 16.0, 100.0}) {
    for (const std::uint64_t seed : {0, 77}) {
      const FilterBuilder builder = Builder(bits_per_key, 0.0, seed);
      EXPECT_EQ(builder.BlockBytes(0), 1 + TrailerBytes(0, seed));
      for (std::uint64_t keys = 1; keys <= 1000; ++keys) {
        const std::uint64_t array_bytes = kLineBytes * Lines(keys, bits_per_key);
        ASSERT_EQ(builder.BlockBytes(keys), array_bytes + TrailerBytes(keys, seed)) << keys;
        if (keys % 17 != 1) continue;
        const FilterPlan plan = builder.Plan(keys);
        ASSERT_EQ(plan.BlockBytes(), builder.BlockBytes(keys));
        ASSERT_EQ(plan.Description().bits, 8 * array_bytes);
        ExpectBestProbes(plan);
      }
    }
  }
}

// In whole bytes.
TEST_P(BloomPlan, IsTheSmallestForARate) {
  for (const double rate : {0.5, 0.3, 0.01, 1e-9}) {
    const FilterBuilder builder = Builder(10.0, rate);
    for (const std::uint64_t keys : {1, 2, 7, 100, 1001}) {
      const FilterPlan plan = builder.Plan(keys);
      const auto smallest = SmallestFilter(GetParam(), keys, rate);
      ASSERT_TRUE(smallest);
      EXPECT_EQ(plan.Description().bits, filter::ArrayBytes(smallest->bits) * 8);
      EXPECT_LE(plan.FalsePositiveRate(), rate);
      ExpectBestProbes(plan);
    }
  }
}

TEST_P(BloomPlan, FillsTheBytesThatItIsGiven) {
  constexpr std::uint64_t kKeys = 1000;
  const FilterBuilder builder = Builder(10.0);
  EXPECT_FALSE(builder.PlanWithin(kKeys, TrailerBytes(kKeys, 0)));
  for (std::uint64_t bytes = TrailerBytes(kKeys, 0) + 1; bytes < 4000; bytes += 7) {
    const FilterPlan plan = *builder.PlanWithin(kKeys, bytes);
    EXPECT_EQ(plan.BlockBytes(), bytes);
    EXPECT_FALSE(plan.IsCut());
    ExpectBestProbes(plan);
  }
}

// Beyond the block limit the bits per key shrink, and k follows.
TEST_P(BloomPlan, IsCutAtTheLimitOfStockReaders) {
  const FilterBuilder builder = Builder(10.0);
  EXPECT_EQ(builder.Plan(3'400'000'000).Description().bits, 34'000'000'000U);
  for (const auto& [keys, probes] : std::vector<std::pair<std::uint64_t, int>>{
           {3'500'000'000, 7}, {10'000'000'000, 2}, {1'000'000'000'000, 1}}) {
    const FilterPlan plan = builder.Plan(keys);
    EXPECT_TRUE(plan.IsCut());
    EXPECT_EQ(plan.Description().bits / 8 + filter::kMostTrailerBytes, kBlockBytesLimit - 1);
    EXPECT_EQ(plan.Description().probes, probes) << keys;
  }
  constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 53;
  EXPECT_EQ(builder.Plan(kMostKeys).BlockBytes(),
            kBlockBytesLimit - 1 - filter::kMostTrailerBytes + TrailerBytes(kMostKeys, 0));
}

FilterPlan PlanOfRibbon(std::uint64_t keys, double bits_per_key, std::uint64_t seed = 0) {
  return BuilderOf(FilterKind::kRibbon, bits_per_key, 0.0, seed).Plan(keys);
}

TEST(RibbonPlan, HasAtMostTheBitsAskedForAndATrailer) {
  for (const double bits_per_key : {0.0, 0.4, 1.1, 6.3, 10.0, 16.5, 30.0}) {
    for (const std::uint64_t seed : {0, 77}) {
      for (std::uint64_t keys = 0; keys < 3000; keys += 1 + keys / 50) {
        const FilterPlan plan = PlanOfRibbon(keys, bits_per_key, seed);
        ASSERT_EQ(plan.Kind(), FilterKind::kRibbon);
        const double wanted = bits_per_key * static_cast<double>(keys) / 8.0;
        const std::uint64_t bytes = plan.BlockBytes() - RibbonTrailerBytes(keys, seed);
        ASSERT_LE(static_cast<double>(bytes), wanted) << keys;
        // A column grows by 8 bytes; before the first one all keys pass.
        if (plan.FalsePositiveRate() < 1.0 && bits_per_key < kMaxRibbonBitsPerKey) {
          ASSERT_GT(static_cast<double>(bytes) + 9, wanted) << keys;
        }
      }
    }
  }
  EXPECT_EQ(PlanOfRibbon(1000, kMaxBitsPerKey).BlockBytes(),
            PlanOfRibbon(1000, kMaxRibbonBitsPerKey).BlockBytes());
}

TEST(RibbonPlan, OfMoreBytesHasNoHigherRate) {
  const FilterBuilder builder = BuilderOf(FilterKind::kRibbon, 10.0);
  EXPECT_FALSE(builder.PlanWithin(1000, RibbonTrailerBytes(1000, 0) - 1));
  double last_rate = 1.0;
  for (std::uint64_t bytes = RibbonTrailerBytes(1000, 0); bytes < 4000; ++bytes) {
    const FilterPlan plan = *builder.PlanWithin(1000, bytes);
    EXPECT_LE(plan.BlockBytes(), bytes);
    EXPECT_LE(plan.FalsePositiveRate(), last_rate);
    last_rate = plan.FalsePositiveRate();
  }
  EXPECT_LT(last_rate, 1e-8);
}

TEST(RibbonPlan, OfMoreKeysThanItHoldsIsABloomFilterAndSaysSo) {
  for (const double bits_per_key : {0.0, 1.1, 5.0, 10.0}) {
    const FilterBuilder builder = BuilderOf(FilterKind::kRibbon, bits_per_key);
    EXPECT_EQ(builder.Plan(4'000'000'000).Kind(), FilterKind::kRibbon);
    for (const std::uint64_t keys : {std::uint64_t{4'290'000'000}, std::uint64_t{1} << 53}) {
      const FilterPlan plan = builder.Plan(keys);
      EXPECT_EQ(plan.Kind(), FilterKind::kClassicBloom);
      EXPECT_EQ(plan.BlockBytes(),
                BuilderOf(FilterKind::kClassicBloom, bits_per_key).BlockBytes(keys));
      EXPECT_EQ(builder.PlanWithin(keys, 1000)->Kind(), FilterKind::kClassicBloom);
    }
  }
  // Finished with fewer keys it is that filter, too.
  FilterBuilder small = *FilterBuilder::Create({FilterKind::kRibbon, 10.0, 0.0, 0, 4096});
  AddNumbers(small, 1000);
  const FilterBlock block = small.Finish(small.Plan(std::uint64_t{1} << 53));
  EXPECT_EQ(FilterView(block.bytes()).Kind(), FilterKind::kClassicBloom);
  EXPECT_EQ(CountPassing(FilterView(block.bytes()), 1000), 1000U);
}

std::vector<std::uint64_t> KeysUpTo5000() {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t n = 1; n < 5000; n += n < 1000 ? 1 : n / 6) keys.push_back(n);
  keys.insert(keys.end(), {1999, 2000, 2001, 5000});
  return keys;
}

// What the other kind would have is told by builders of one kind.
struct OneKind {
  explicit OneKind(double bits_per_key, double rate = 0.0)
      : bloom(BuilderOf(FilterKind::kClassicBloom, bits_per_key, rate)),
        ribbon(BuilderOf(FilterKind::kRibbon, bits_per_key, rate)) {}

  FilterBuilder bloom;
  FilterBuilder ribbon;
};

// Up to five lines the bytes are the Bloom filter's, and beyond the Ribbon filter's, unless that
// may not have all bits.
TEST(ChosenKind, HasTheLowerExactRateInEqualBytes) {
  int ribbons = 0;
  int blooms = 0;
  for (const double bits_per_key : {0.4, 1.1, 1.25, 2.0, 3.3, 4.0, 6.0, 10.0, 16.0, 30.0, 50.0}) {
    const FilterBuilder builder = BuilderOf({}, bits_per_key);
    const OneKind alone(bits_per_key);
    for (const std::uint64_t keys : KeysUpTo5000()) {
      SCOPED_TRACE(testing::Message() << keys << " keys, bits " << bits_per_key);
      const FilterPlan plan = builder.Plan(keys);
      EXPECT_FALSE(plan.IsCut());
      EXPECT_EQ(builder.BlockBytes(keys), plan.BlockBytes());
      FilterPlan bloom = alone.bloom.Plan(keys);
      std::optional<FilterPlan> ribbon = alone.ribbon.Plan(keys);
      if (Lines(keys, bits_per_key) <= filter::kLinesOfEitherKind) {
        ribbon = alone.ribbon.PlanWithin(keys, bloom.BlockBytes());
      } else if (bits_per_key <= kMaxRibbonBitsPerKey) {
        bloom = *alone.bloom.PlanWithin(keys, ribbon->BlockBytes());
      }
      const double rate = bloom.FalsePositiveRate();
      const bool is_ribbon = ribbon && ribbon->FalsePositiveRate() < rate;
      ExpectEqual(plan.Description(),
                  is_ribbon ? ribbon->Description() : alone.bloom.Plan(keys).Description());
      ++(is_ribbon ? ribbons : blooms);
    }
  }
  EXPECT_GT(ribbons, 1000);
  EXPECT_GT(blooms, 1000);
}

// As docs/configuration.md says.
TEST(ChosenKind, IsBloomForFewKeys) {
  const auto last_bloom = [](double bits_per_key, std::uint64_t keys) {
    const FilterBuilder builder = BuilderOf({}, bits_per_key);
    while (builder.Plan(keys).Kind() == FilterKind::kRibbon) --keys;
    return keys;
  };
  for (std::uint64_t keys = 1; keys <= 54; ++keys) EXPECT_EQ(last_bloom(10.0, keys), keys);
  for (std::uint64_t keys = 1; keys <= 256; ++keys) EXPECT_EQ(last_bloom(2.0, keys), keys);
  EXPECT_EQ(last_bloom(10.0, 55), 54U);
  EXPECT_EQ(last_bloom(10.0, 5000), 101U);
  EXPECT_EQ(last_bloom(2.0, 5000), 256U);
}

TEST(ChosenKind, HasTheLowerRateInGivenBytes) {
  const FilterBuilder builder = BuilderOf({}, 10.0);
  const OneKind alone(10.0);
  for (const std::uint64_t keys : {1U, 60U, 130U, 300U, 1000U, 3000U}) {
    for (const std::uint64_t bytes : {0U, 12U, 20U, 76U, 130U, 400U, 1000U, 4000U}) {
      const auto ribbon = alone.ribbon.PlanWithin(keys, bytes);
      const auto bloom = alone.bloom.PlanWithin(keys, bytes);
      const auto plan = builder.PlanWithin(keys, bytes);
      ASSERT_EQ(plan.has_value(), ribbon || bloom) << bytes;
      if (!plan) continue;
      EXPECT_LE(plan->BlockBytes(), bytes);
      // But for some bytes that a kind leaves, and for rates that no Ribbon filter has.
      const double best = std::min(ribbon ? ribbon->FalsePositiveRate() : 1.0,
                                   bloom ? bloom->FalsePositiveRate() : 1.0);
      EXPECT_LE(plan->FalsePositiveRate(), std::max(1e-9, 1.05 * best)) << keys << ' ' << bytes;
    }
  }
}

TEST(ChosenKind, FollowsTheBitsPerKey) {
  FilterBuilder builder = BuilderOf({}, 10.0);
  EXPECT_EQ(builder.Plan(100'000).Kind(), FilterKind::kRibbon);
  // Where not every slot has a column, a Ribbon filter still has the lower rate.
  builder.SetBitsPerKey(0.4);
  EXPECT_EQ(builder.options().bits_per_key, 0.4);
  EXPECT_EQ(builder.Plan(100'000).Kind(), FilterKind::kRibbon);
  EXPECT_LT(builder.Plan(100'000).FalsePositiveRate(), 0.83);
  // A Bloom filter may have more bits, and a lower rate.
  for (const double bits_per_key : {0.0, kMaxBitsPerKey}) {
    builder.SetBitsPerKey(bits_per_key);
    EXPECT_EQ(builder.Plan(100'000).Kind(), FilterKind::kClassicBloom);
  }
}

TEST(ChosenKind, OfARateHasTheSmallerBlockAndKeepsTheRate) {
  for (const double rate : {0.5, 0.1, 0.03, 0.01, 0.001, 1e-6}) {
    FilterBuilder builder = BuilderOf({}, 10.0, rate);
    const OneKind alone(10.0, rate);
    int ribbons = 0;
    for (std::uint64_t keys = 1; keys < 5000; keys += 1 + keys / 3) {
      SCOPED_TRACE(testing::Message() << keys << " keys, rate " << rate);
      const FilterPlan plan = builder.Plan(keys);
      EXPECT_EQ(plan.BlockBytes(),
                std::min(alone.ribbon.BlockBytes(keys), alone.bloom.BlockBytes(keys)));
      EXPECT_LE(plan.FalsePositiveRate(), rate);
      EXPECT_EQ(builder.BlockBytes(keys), plan.BlockBytes());
      AddNumbers(builder, keys);
      const FilterBlock block = builder.Finish(plan);
      const FilterView view(block.bytes());
      EXPECT_EQ(view.Kind(), plan.Kind());
      EXPECT_EQ(CountPassing(view, keys), keys);
      EXPECT_LE(view.FalsePositiveRate(), rate);
      EXPECT_LE(static_cast<double>(block.size), 1.1 * static_cast<double>(plan.BlockBytes()));
      ribbons += plan.Kind() == FilterKind::kRibbon ? 1 : 0;
    }
    EXPECT_GT(ribbons, 5) << rate;
  }
}

TEST(ChosenKind, OfARateIsCutWhereBothKindsAre) {
  for (const std::uint64_t limit : {100, 300, 1000}) {
    for (const double rate : {0.5, 0.3, 0.01, 1e-6}) {
      const auto cut = [&](std::optional<FilterKind> kind, std::uint64_t keys) {
        return FilterBuilder::Create({kind, 10, rate, 0, limit})->Plan(keys).IsCut();
      };
      for (std::uint64_t keys = 1; keys < 8 * limit; keys += 1 + keys / 20) {
        EXPECT_EQ(cut({}, keys),
                  cut(FilterKind::kClassicBloom, keys) && cut(FilterKind::kRibbon, keys))
            << "limit " << limit << ", rate " << rate << ", " << keys << " keys";
      }
    }
  }
}

// The parameter is the kind, or nothing where the builder chooses.
class AnyPlan : public testing::TestWithParam<std::optional<FilterKind>> {};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyPlan,
                         testing::Values(FilterKind::kClassicBloom, FilterKind::kStandardBloom,
                                         FilterKind::kRibbon, std::nullopt),
                         [](const auto& test) {
                           return test.param ? NameOf(*test.param) : std::string("Chosen");
                         });

// Expects it of every number of bytes below `most_bytes`, of which no more than `most_keys` keys
// take so few.
void ExpectMostKeys(const FilterBuilder& builder, std::uint64_t most_bytes, std::uint64_t most_keys,
                    std::uint64_t step) {
  std::vector<std::uint64_t> fitting(most_bytes);
  for (std::uint64_t keys = 1; keys <= most_keys; ++keys) {
    const std::uint64_t bytes = builder.BlockBytes(keys);
    if (bytes < most_bytes) fitting[bytes] = keys;
  }
  std::uint64_t most = 0;
  for (std::uint64_t bytes = 0; bytes < most_bytes; ++bytes) {
    most = std::max(most, fitting[bytes]);
    if (bytes % step == 0) {
      ASSERT_EQ(builder.KeysThatFit(bytes), most) << bytes;
    }
  }
  ASSERT_LT(most, most_keys);
}

TEST_P(AnyPlan, KeysThatFitIsTheMostThatFit) {
  constexpr std::uint64_t kMostBytes = 1200;
  const std::uint64_t step = GetParam() ? 1 : 57;  // where the kind is chosen, a plan takes longer
  for (const double bits_per_key : {0.4, 4.0 / 3.0, 3.3, 10.0, 12.7, 99.9}) {
    SCOPED_TRACE(bits_per_key);
    const FilterBuilder builder = BuilderOf(GetParam(), bits_per_key);
    // A Ribbon filter has no more bits.
    const double fewest_bits = std::min(bits_per_key, kMaxRibbonBitsPerKey);
    const auto most_keys = static_cast<std::uint64_t>(9000 / fewest_bits + 9000 / bits_per_key);
    ASSERT_NO_FATAL_FAILURE(ExpectMostKeys(builder, kMostBytes, most_keys + 1000, step));
    for (const std::uint64_t bytes : {4096U, 17'700U, 200'000U, 1U << 20, (1U << 31) + 12'345}) {
      const std::uint64_t keys = builder.KeysThatFit(bytes);
      ASSERT_LE(builder.BlockBytes(keys), bytes);
      for (std::uint64_t more = 1; more < 20 + static_cast<std::uint64_t>(2000 / bits_per_key);
           ++more) {
        ASSERT_GT(builder.BlockBytes(keys + more), bytes) << keys << " + " << more;
      }
    }
    const std::uint64_t limit = kBlockBytesLimit - 1;
    EXPECT_LE(builder.BlockBytes(builder.KeysThatFit(limit)), limit);
    EXPECT_EQ(builder.KeysThatFit(~std::uint64_t{0}), builder.KeysThatFit(limit));
  }
}

// Between these bits the kinds take turns, and a Ribbon filter is smaller.
TEST(ChosenPlan, KeysThatFitIsTheMostThatFitWhereKindsTakeTurns) {
  for (const double bits_per_key : {39.5, 42.0, 44.0}) {
    SCOPED_TRACE(bits_per_key);
    const FilterBuilder builder = BuilderOf(std::nullopt, bits_per_key);
    ASSERT_NO_FATAL_FAILURE(ExpectMostKeys(builder, 2'000, 1'000, 119));
  }
  EXPECT_EQ(BuilderOf(std::nullopt, 42.0).KeysThatFit(5'635), 1'498U);
}

TEST_P(AnyPlan, KeysThatFitIsTheMostThatFitOfARate) {
  for (const double rate : {0.5, 0.1, 0.01, 1e-6}) {
    const FilterBuilder builder = BuilderOf(GetParam(), 10.0, rate);
    ASSERT_NO_FATAL_FAILURE(ExpectMostKeys(builder, 300, 3000, 7)) << rate;
  }
}

// As many as there can be, where they take no bits.
TEST_P(AnyPlan, AnyNumberOfKeysFitsWithoutBits) {
  const FilterBuilder builder = BuilderOf(GetParam(), 0.0);
  EXPECT_EQ(builder.KeysThatFit(100), std::uint64_t{1} << 53);
  EXPECT_EQ(builder.KeysThatFit(10), 0U);
  EXPECT_EQ(builder.Plan(1'000'000).Description().bits,
            GetParam() == FilterKind::kRibbon ? 0U : 8 * kLineBytes);
}

TEST_P(AnyPlan, ALimitOfBlocksCutsBitsAndKeepsKeys) {
  for (const std::uint64_t limit : {100, 300, 1000}) {
    for (const double rate : {0.0, 0.3, 0.01}) {
      SCOPED_TRACE(testing::Message() << "limit " << limit << ", rate " << rate);
      FilterBuilder builder = *FilterBuilder::Create({GetParam(), 10, rate, 0, limit});
      const std::uint64_t fitting = builder.KeysThatFit(kBlockBytesLimit);
      EXPECT_GT(fitting, limit / 4);
      for (std::uint64_t keys = 1; keys < 2 * fitting; ++keys) {
        const FilterPlan plan = builder.Plan(keys);
        ASSERT_LT(plan.BlockBytes(), limit);
        ASSERT_EQ(plan.IsCut(), rate == 0.0 ? keys > fitting : plan.FalsePositiveRate() > rate)
            << keys;
      }
      const std::uint64_t keys = 2 * fitting;
      AddNumbers(builder, keys);
      const FilterBlock block = builder.Finish();
      EXPECT_LT(block.size, limit);
      EXPECT_GT(block.size, limit - filter::kMostTrailerBytes - 1);
      EXPECT_EQ(CountPassing(FilterView(block.bytes()), keys), keys);
    }
  }
}

}  // namespace
}  // namespace exactbloom
