// The builder that chooses the kind of a filter when its keys are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder_fault.h"
#include "exactbloom/filter.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/construction_check.h"
#include "src/filter/kernels/key_hash.h"

namespace exactbloom {
namespace {

FilterOptions WithRibbon(double bits_per_key, double false_positive_rate = 0.0) {
  FilterOptions options;
  options.ribbon = true;
  options.bits_per_key = bits_per_key;
  options.false_positive_rate = false_positive_rate;
  return options;
}

// The builders of one kind alone, which the other is compared with.
struct OneKind {
  explicit OneKind(double bits_per_key, double false_positive_rate = 0.0) {
    FilterOptions of_bloom;
    of_bloom.bits_per_key = bits_per_key;
    of_bloom.false_positive_rate = false_positive_rate;
    bloom.emplace(*FilterBuilder::Create(of_bloom));
    FilterOptions of_ribbon;
    of_ribbon.bits_per_key = bits_per_key;
    of_ribbon.false_positive_rate = false_positive_rate;
    ribbon.emplace(*FilterBuilder::Create(of_ribbon));
  }

  std::optional<FilterBuilder> bloom;
  std::optional<FilterBuilder> ribbon;
};

std::vector<std::uint64_t> KeysUpTo5000() {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t n = 1; n <= 5000; n += 1 + n / 6) keys.push_back(n);
  keys.insert(keys.end(), {1999, 2000, 2001, 5000});
  return keys;
}

constexpr double kBitsPerKey[] = {1.1, 1.25, 1.5, 1.9, 2.0, 2.5,  3.0,  3.3,  4.0,  5.0,
                                  6.0, 7.0,  8.0, 9.5, 10., 12.0, 14.5, 17.0, 22.0, 30.0};

TEST(FilterBuilderKind, HasTheLowerExactRateAtEqualBytes) {
  std::uint64_t ribbons = 0;
  std::uint64_t blooms = 0;
  for (const double bits_per_key : kBitsPerKey) {
    const FilterBuilder builder = *FilterBuilder::Create(WithRibbon(bits_per_key));
    const OneKind alone(bits_per_key);
    for (const std::uint64_t keys : KeysUpTo5000()) {
      SCOPED_TRACE(std::to_string(keys) + " keys, bits " + std::to_string(bits_per_key));
      const FilterPlan ribbon = alone.ribbon->Plan(keys);
      const auto bloom = alone.bloom->PlanWithin(keys, ribbon.BlockBytes());
      const double rate_of_bloom = bloom ? bloom->FalsePositiveRate() : 1.0;
      const FilterPlan plan = builder.Plan(keys);
      const std::size_t asked =
          static_cast<std::size_t>(bits_per_key * static_cast<double>(keys)) / 8 + 1;
      EXPECT_EQ(plan.Keys(), keys);
      EXPECT_LE(plan.BlockBytes(), asked + filter::TrailerBytes(keys, 0));
      EXPECT_FALSE(plan.IsCut());
      if (ribbon.FalsePositiveRate() < rate_of_bloom) {
        EXPECT_TRUE(plan.IsRibbon()) << ribbon.FalsePositiveRate() << " < " << rate_of_bloom;
        EXPECT_EQ(plan.BlockBytes(), ribbon.BlockBytes());
        EXPECT_EQ(plan.FalsePositiveRate(), ribbon.FalsePositiveRate());
        ++ribbons;
      } else {
        EXPECT_FALSE(plan.IsRibbon()) << ribbon.FalsePositiveRate() << " >= " << rate_of_bloom;
        EXPECT_EQ(plan.BlockBytes(), alone.bloom->BlockBytes(keys));
        ++blooms;
      }
      EXPECT_EQ(builder.BlockBytes(keys), plan.BlockBytes());
    }
  }
  EXPECT_GT(ribbons, 100U);
  EXPECT_GT(blooms, 100U);
}

// Whatever bytes it gets.
TEST(FilterBuilderKind, OfAGivenSizeHasTheLowerRate) {
  const FilterBuilder builder = *FilterBuilder::Create(WithRibbon(10.0));
  const OneKind alone(10.0);
  for (const std::uint64_t keys : {1U, 60U, 130U, 300U, 1000U, 3000U}) {
    for (const std::uint64_t bytes : {0U, 12U, 20U, 76U, 130U, 400U, 1000U, 4000U}) {
      const auto ribbon = alone.ribbon->PlanWithin(keys, bytes);
      const auto bloom = alone.bloom->PlanWithin(keys, bytes);
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

TEST(FilterBuilderKind, BelowTheBitsOfRibbonIsBloom) {
  const FilterBuilder builder = *FilterBuilder::Create(WithRibbon(1.0));
  EXPECT_FALSE(builder.Plan(100'000).IsRibbon());
  FilterBuilder changed = *FilterBuilder::Create(WithRibbon(10.0));
  EXPECT_TRUE(changed.Plan(100'000).IsRibbon());
  changed.SetBitsPerKey(1.0);
  EXPECT_FALSE(changed.Plan(100'000).IsRibbon());
  // More than Ribbon filters take.
  changed.SetBitsPerKey(kMaxBitsPerKey);
  EXPECT_EQ(changed.BlockBytes(1000),
            FilterBuilder::Create(WithRibbon(kMaxRibbonBitsPerKey))->BlockBytes(1000));
  FilterOptions bloom = WithRibbon(10.0);
  bloom.ribbon = false;
  EXPECT_FALSE(FilterBuilder::Create(bloom)->Plan(100'000).IsRibbon());
}

TEST(FilterBuilderOptions, OutsideTheirRangesMakeNoBuilder) {
  EXPECT_FALSE(FilterBuilder::Create(WithRibbon(101.0)));
  EXPECT_FALSE(FilterBuilder::Create(WithRibbon(10.0, 0.6)));
  FilterOptions small = WithRibbon(10.0);
  small.block_bytes_limit = 10;
  EXPECT_FALSE(FilterBuilder::Create(small));
}

void AddKeys(FilterBuilder& builder, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) builder.AddKey(NumberKey(i).text());
}

// Returns how many of 10,000 absent keys pass.
std::uint64_t ExpectFilterOf(std::string_view block, std::uint64_t keys, bool is_ribbon) {
  const FilterView bloom(block);
  const FilterView ribbon(block);
  EXPECT_EQ(bloom.Status(), is_ribbon ? BlockStatus::kOtherKind : BlockStatus::kUsable);
  EXPECT_EQ(ribbon.Status(), is_ribbon ? BlockStatus::kUsable : BlockStatus::kOtherKind);
  const auto passes = [&](std::uint64_t key) {
    const NumberKey number(key);
    return is_ribbon ? ribbon.MayContain(number.text()) : bloom.MayContain(number.text());
  };
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(passes(i)) << i;
  for (std::uint64_t i = keys; i < keys + 10'000; ++i) passed += passes(i) ? 1 : 0;
  return passed;
}

TEST(FilterBuilderOfARate, TakesTheSmallerBlockAndKeepsTheRate) {
  for (const double rate : {0.5, 0.1, 0.03, 0.01, 0.001, 1e-6}) {
    FilterBuilder builder = *FilterBuilder::Create(WithRibbon(10.0, rate));
    ASSERT_TRUE(builder.IsSizedByRate());
    const OneKind alone(10.0, rate);
    std::uint64_t ribbons = 0;
    for (std::uint64_t keys = 1; keys < 5000; keys += 1 + keys / 3) {
      SCOPED_TRACE(std::to_string(keys) + " keys, rate " + std::to_string(rate));
      const FilterPlan plan = builder.Plan(keys);
      EXPECT_EQ(plan.BlockBytes(),
                std::min(alone.ribbon->BlockBytes(keys), alone.bloom->BlockBytes(keys)));
      EXPECT_LE(plan.FalsePositiveRate(), rate);
      EXPECT_EQ(builder.BlockBytes(keys), plan.BlockBytes());
      AddKeys(builder, keys);
      const FilterBlock block = builder.Finish(plan);
      ExpectFilterOf(block.bytes(), keys, plan.IsRibbon());
      if (!plan.IsRibbon()) continue;
      ++ribbons;
      EXPECT_LE(FilterView(block.bytes()).FalsePositiveRate(), rate);
      EXPECT_LE(static_cast<double>(block.size), 1.1 * static_cast<double>(plan.BlockBytes()));
    }
    EXPECT_GT(ribbons, 5U) << rate;
  }
}

TEST(FilterBuilderSize, KeysThatFitHaveABlockThatIsNoLarger) {
  for (const FilterOptions& options :
       {WithRibbon(1.5), WithRibbon(4.0), WithRibbon(10.0), WithRibbon(30.0),
        WithRibbon(10.0, 0.01), WithRibbon(10.0, 0.5)}) {
    const FilterBuilder builder = *FilterBuilder::Create(options);
    for (const std::uint64_t bytes :
         {0U, 13U, 76U, 100U, 150U, 256U, 461U, 922U, 3687U, 100'000U}) {
      SCOPED_TRACE(std::to_string(options.bits_per_key) + ' ' + std::to_string(bytes));
      const std::uint64_t keys = builder.KeysThatFit(bytes);
      if (keys != 0) {
        EXPECT_LE(builder.BlockBytes(keys), bytes);
      }
      EXPECT_GT(builder.BlockBytes(keys + 20 + keys / 20), bytes);
    }
  }
}

TEST(FilterBuilderStore, MakesBothKindsOneAfterTheOther) {
  FilterBuilder builder = *FilterBuilder::Create(WithRibbon(10.0));
  for (const std::uint64_t keys : {5000U, 50U, 20'000U, 0U, 3U, 5000U}) {
    AddKeys(builder, keys);
    EXPECT_EQ(builder.KeyCount(), keys);
    const FilterPlan plan = builder.Plan(keys);
    EXPECT_EQ(plan.IsRibbon(), keys >= 5000) << keys;
    const FilterBlock block = builder.Finish(plan);
    EXPECT_EQ(block.size, plan.BlockBytes());
    EXPECT_EQ(builder.KeyCount(), 0U);
    const std::uint64_t passed = ExpectFilterOf(block.bytes(), keys, keys >= 5000);
    EXPECT_LE(passed, keys >= 5000 ? 40U : 200U) << keys;
  }
}

TEST(FilterBuilderStore, IsCleared) {
  FilterBuilder builder = *FilterBuilder::Create(WithRibbon(10.0));
  for (const std::uint64_t keys : {5000U, 50U}) {
    AddKeys(builder, 9000);
    builder.Clear();
    EXPECT_EQ(builder.KeyCount(), 0U);
    builder.AddKeyAndAlternate("key", "prefix");
    builder.AddKeyAndAlternate("another key", "prefix");
    EXPECT_EQ(builder.KeyCount(), 3U);
    builder.Clear();
    AddKeys(builder, keys);
    const FilterBlock block = builder.Finish(builder.Plan(keys));
    EXPECT_LE(ExpectFilterOf(block.bytes(), keys, keys == 5000), 200U);
  }
}

// The parameter is the number of keys: 50 make a Bloom filter, 5,000 a Ribbon filter.
class FilterBuilderFaults : public testing::TestWithParam<std::uint64_t> {
 protected:
  static FilterOptions Detecting() {
    FilterOptions options = WithRibbon(10.0);
    options.detect_faults = true;
    return options;
  }

  FilterBlock Build() {
    AddKeys(builder_, GetParam());
    const FilterPlan plan = builder_.Plan(GetParam());
    EXPECT_EQ(plan.IsRibbon(), GetParam() == 5000);
    return builder_.Finish(plan);
  }

  FilterBuilder builder_ = *FilterBuilder::Create(Detecting());
};

INSTANTIATE_TEST_SUITE_P(Kinds, FilterBuilderFaults, testing::Values(50, 5000));

TEST_P(FilterBuilderFaults, SoundFiltersPass) {
  for (int i = 0; i < 2; ++i) {
    const FilterBlock block = Build();
    EXPECT_EQ(builder_.CheckHashes(), ConstructionFault::kNone);
    EXPECT_EQ(builder_.CheckBlock(block.bytes()), ConstructionFault::kNone);
  }
}

TEST_P(FilterBuilderFaults, AChangedHashIsFoundBeforeOrAfterTheBuild) {
  AddKeys(builder_, GetParam());
  filter::HashIn(builder_.state().Hashes(), 20) ^= 1;
  EXPECT_EQ(builder_.CheckHashes(), ConstructionFault::kHashes);
  const FilterBlock block = builder_.Finish(builder_.Plan(GetParam()));
  EXPECT_EQ(builder_.CheckBlock(block.bytes()), ConstructionFault::kHashes);
}

TEST_P(FilterBuilderFaults, AChangedBlockIsFound) {
  const std::size_t size = Build().size;
  for (std::size_t byte = 0; byte < size; byte += 1 + size / 50) {
    builder_.Clear();
    FilterBlock block = Build();
    block.data[byte] = static_cast<char>(block.data[byte] ^ 1);
    EXPECT_EQ(builder_.CheckBlock(block.bytes()), ConstructionFault::kBlock) << byte;
  }
}

TEST_P(FilterBuilderFaults, AMissingKeyIsFound) {
  const FilterBlock block = Build();
  const FilterView bloom(block.bytes());
  const FilterView ribbon(block.bytes());
  const auto passes = [&](std::uint64_t key) {
    return bloom.Status() == BlockStatus::kUsable ? bloom.MayContain(NumberKey(key).text())
                                                  : ribbon.MayContain(NumberKey(key).text());
  };
  std::uint64_t absent = GetParam();
  while (passes(absent)) ++absent;
  filter::ConstructionCheck check;
  filter::HashStore hashes(filter::Consumed::kKept);
  for (const std::uint64_t key : {std::uint64_t{3}, absent, std::uint64_t{5}}) {
    const std::uint64_t hash = filter::HashKey(NumberKey(key).text(), 0);
    hashes.Append(hash);
    check.Note(hash);
  }
  check.Keep(hashes, block.bytes());
  EXPECT_EQ(check.CheckBlock(block.bytes()), ConstructionFault::kMissingKey);
}

}  // namespace
}  // namespace exactbloom
