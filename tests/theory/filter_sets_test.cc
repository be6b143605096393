#include "exactbloom/filter_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/theory/occupancy.h"
#include "tests/filter/sample_filters.h"

namespace exactbloom {
namespace {

constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};
constexpr std::uint64_t kBits = 80'000;
constexpr int kProbes = 7;

// The filter of keys first .. first + keys - 1.
FilterBlock Block(BloomKind kind, std::uint64_t first, std::uint64_t keys, std::uint64_t seed = 3) {
  return MakeBlock({kind, kBits, keys, kProbes}, seed, first);
}

TEST(UnionOf, IsTheBlockOfAllKeys) {
  for (const BloomKind kind : kKinds) {
    const FilterBlock first = Block(kind, 0, 3000);
    const FilterBlock second = Block(kind, 2000, 6000);
    const FilterBlock all = Block(kind, 0, 8000);
    const auto both = UnionOf(first.bytes(), second.bytes(), 8000);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->bytes(), all.bytes());
  }
}

TEST(UnionOf, StoresTheEstimatedNumberOfKeysWhereItIsNotGiven) {
  for (const BloomKind kind : kKinds) {
    const FilterBlock first = Block(kind, 0, 3000);
    const FilterBlock second = Block(kind, 2000, 6000);
    const auto both = UnionOf(first.bytes(), second.bytes());
    ASSERT_TRUE(both);
    const FilterView view(both->bytes());
    ASSERT_EQ(view.Status(), BlockStatus::kUsable);
    EXPECT_NEAR(static_cast<double>(view.Description().keys), 8000.0, 120.0);  // four deviations
    const FilterBlock all = Block(kind, 0, 8000);
    EXPECT_EQ(both->bytes().substr(0, kBits / 8), all.bytes().substr(0, kBits / 8));

    // No more than the keys of both, no fewer than those of one.
    const auto same = UnionOf(first.bytes(), first.bytes());
    EXPECT_GE(FilterView(same->bytes()).Description().keys, 3000U);
    const FilterBlock none = Block(kind, 0, 0);
    EXPECT_EQ(UnionOf(none.bytes(), first.bytes())->bytes(), first.bytes());
    const FilterBlock crowded = MakeBlock({kind, 8, 20, 3}, 3, 0);
    const auto full = UnionOf(crowded.bytes(), crowded.bytes());
    EXPECT_EQ(FilterView(full->bytes()).Description().keys, 40U);
  }
}

TEST(IntersectionOf, PassesEverySharedKeyAtARateBetweenAFreshFilterAndItsInputs) {
  for (const BloomKind kind : kKinds) {
    const FilterBlock first = Block(kind, 0, 6000);
    const FilterBlock second = Block(kind, 4000, 6000);
    const auto shared = IntersectionOf(first.bytes(), second.bytes());
    ASSERT_TRUE(shared);
    const FilterView view(shared->bytes());
    ASSERT_EQ(view.Status(), BlockStatus::kUsable);
    for (std::uint64_t key = 4000; key < 6000; ++key) {
      EXPECT_TRUE(view.MayContain(NumberKey(key).text()));
    }
    EXPECT_NEAR(static_cast<double>(view.Description().keys), 2000.0, 150.0);

    const auto rate = [&](const FilterBlock& block) {
      const std::uint64_t ones = FilterView(block.bytes()).CountOnes();
      return FalsePositiveRateGivenFill(kind, kBits, ones, kProbes);
    };
    const double fresh = rate(Block(kind, 4000, 2000));
    EXPECT_GT(rate(*shared), fresh);
    EXPECT_LT(rate(*shared), std::min(rate(first), rate(second)));
  }
}

// The ones that filters without a common key share are those of the theory.
TEST(IntersectionOf, OfOtherKeysHasTheOnesThatChanceGives) {
  for (const BloomKind kind : kKinds) {
    const auto occupancy = Occupancy::OfIntersection(kind, kBits, {6000, 5000}, kProbes);
    const FilterBlock first = Block(kind, 0, 6000);
    const FilterBlock second = Block(kind, 6000, 5000);
    const auto shared = IntersectionOf(first.bytes(), second.bytes());
    const auto ones = static_cast<double>(FilterView(shared->bytes()).CountOnes());
    EXPECT_NEAR(ones, occupancy->Mean(), 4.0 * std::sqrt(occupancy->Variance()));
  }
}

TEST(FilterSets, OfFiltersThatDifferAreNothing) {
  const FilterBlock block = Block(BloomKind::kClassic, 0, 1000);
  const std::vector<FilterBlock> others = [] {
    std::vector<FilterBlock> blocks;
    blocks.push_back(Block(BloomKind::kStandard, 0, 1000));
    blocks.push_back(Block(BloomKind::kClassic, 0, 1000, 4));
    blocks.push_back(MakeBlock({BloomKind::kClassic, kBits + 8, 1000, kProbes}, 3, 0));
    blocks.push_back(MakeBlock({BloomKind::kClassic, kBits, 1000, kProbes + 1}, 3, 0));
    FilterBuilder ribbon = *FilterBuilder::Create({FilterKind::kRibbon});
    for (std::uint64_t key = 0; key < 1000; ++key) ribbon.AddKey(NumberKey(key).text());
    blocks.push_back(ribbon.Finish());
    blocks.push_back(FilterBlock{});
    FilterBlock damaged = Block(BloomKind::kClassic, 0, 1000);
    damaged.data[damaged.size - 11] ^= 1;  // the number of probes, against the checksum
    blocks.push_back(std::move(damaged));
    return blocks;
  }();
  for (std::size_t i = 0; i < others.size(); ++i) {
    for (const auto& [first, second] : {std::pair{block.bytes(), others[i].bytes()},
                                        std::pair{others[i].bytes(), block.bytes()}}) {
      EXPECT_FALSE(UnionOf(first, second)) << i;
      EXPECT_FALSE(IntersectionOf(first, second)) << i;
    }
  }
  const std::string_view ribbon = others[4].bytes();
  EXPECT_FALSE(UnionOf(ribbon, ribbon));
  EXPECT_TRUE(UnionOf(block.bytes(), block.bytes()));
}

// As many keys as the fuller filter, or as both, and no more than any rate is known for.
TEST(UnionOf, HasAPossibleNumberOfKeys) {
  const FilterBlock first = Block(BloomKind::kClassic, 0, 3000);
  const FilterBlock second = Block(BloomKind::kClassic, 2000, 6000);
  EXPECT_TRUE(UnionOf(first.bytes(), second.bytes(), 6000));
  EXPECT_TRUE(UnionOf(first.bytes(), second.bytes(), 9000));
  EXPECT_FALSE(UnionOf(first.bytes(), second.bytes(), 5999));
  EXPECT_FALSE(UnionOf(first.bytes(), second.bytes(), 9001));
  auto all = UnionOf(first.bytes(), first.bytes(), 4096);
  for (std::uint64_t keys = 8192; keys <= std::uint64_t{1} << 53; keys *= 2) {
    all = UnionOf(all->bytes(), all->bytes(), keys);
    ASSERT_TRUE(all) << keys;
  }
  EXPECT_FALSE(UnionOf(all->bytes(), all->bytes(), std::uint64_t{1} << 54));
}

// Each thread has a builder of its own, and all have the plan of all keys.
TEST(FilterSets, OfSeveralThreadsAreTheFilterOfOneBuilder) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kKeysOfThread = 5000;
  for (const BloomKind kind : kKinds) {
    FilterOptions options;
    options.kind = ToFilterKind(kind);
    options.hash_seed = 53;
    const auto build = [&](std::uint64_t first, std::uint64_t keys) {
      FilterBuilder builder = *FilterBuilder::Create(options);
      for (std::uint64_t i = 0; i < keys; ++i) builder.AddKey(NumberKey(first + i).text());
      return builder.Finish(builder.Plan(kThreads * kKeysOfThread));
    };
    std::vector<FilterBlock> parts(kThreads);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] { parts[t] = build(t * kKeysOfThread, kKeysOfThread); });
    }
    for (std::thread& thread : threads) thread.join();

    FilterBlock whole = std::move(parts[0]);
    for (std::uint64_t t = 1; t < kThreads; ++t) {
      auto both = UnionOf(whole.bytes(), parts[t].bytes(), (t + 1) * kKeysOfThread);
      ASSERT_TRUE(both);
      whole = std::move(*both);
    }
    EXPECT_EQ(whole.bytes(), build(0, kThreads * kKeysOfThread).bytes());
  }
}

}  // namespace
}  // namespace exactbloom
