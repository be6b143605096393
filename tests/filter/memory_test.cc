// How much memory a build takes besides the filter that it makes, what happens where there is none,
// and what needs none. This program replaces the allocation functions.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <string_view>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/sizing.h"
#include "replaced_allocation.h"
#include "sample_filters.h"
#include "src/filter/builder_state.h"
#include "src/filter/kernels/kernel.h"

namespace exactbloom {
namespace {

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> peak_bytes{0};

constexpr int kNever = std::numeric_limits<int>::max();
int allocations_left = kNever;

}  // namespace

void* AllocateOrNull(std::size_t size) {
  if (allocations_left != kNever && allocations_left-- == 0) {
    allocations_left = kNever;  // one fails
    return nullptr;
  }
  void* memory = std::malloc(size);
  if (memory == nullptr) return nullptr;
  const std::size_t live = live_bytes += malloc_usable_size(memory);
  if (live > peak_bytes) peak_bytes = live;
  return memory;
}

void Free(void* memory) noexcept {
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

namespace {

constexpr double kKiB = 1024.0;

// Large allocations are whole pages.
constexpr double kRounding = 3 * 4 * kKiB;

FilterBuilder BuilderOf(FilterKind kind, double rate = 0.0, bool detects_faults = false) {
  return *FilterBuilder::Create({kind, 10, rate, 0, kBlockBytesLimit, detects_faults});
}

class FilterMemory : public testing::TestWithParam<FilterKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, FilterMemory, testing::ValuesIn(FilterKinds()),
                         [](const auto& test) { return NameOf(test.param); });

void AddEqualHashes(FilterBuilder& builder, std::uint64_t count) {
  filter::HashStore& hashes = filter::BuilderAccess::StateOf(builder).Hashes();
  for (std::uint64_t i = 0; i < count; ++i) hashes.Append(42);
}

// As many keys as it takes to fill the array range by range.
TEST(BuildMemory, IsTwelveBytesAKeyBesideTheFilter) {
  constexpr std::uint64_t kKeys = 4000000;
  constexpr double kBitsPerKey = 70.0;
  constexpr double kKeptBytesPerKey = 8.0;
  constexpr double kMostBytesPerKey = 12.0;
  constexpr double kFixedBytes = 1 << 17;
  const std::size_t before = live_bytes;
  peak_bytes = before;
  FilterBuilder builder = *FilterBuilder::Create({FilterKind::kClassicBloom, kBitsPerKey});
  AddNumbers(builder, kKeys);
  EXPECT_LE(static_cast<double>(live_bytes - before), kKeptBytesPerKey * kKeys + kFixedBytes);
  const FilterBlock block = builder.Finish();
  const double beside = static_cast<double>(peak_bytes - before) - static_cast<double>(block.size);
  EXPECT_LE(beside, kMostBytesPerKey * kKeys + kFixedBytes);
  EXPECT_LE(static_cast<double>(live_bytes - before),
            static_cast<double>(block.size) + kFixedBytes);
}

TEST_P(FilterMemory, OfAFewKeysIsSmall) {
  for (std::uint64_t keys = 0; keys <= 2000; keys += 25) {
    const std::size_t before = live_bytes;
    FilterBuilder builder = BuilderOf(GetParam());
    AddNumbers(builder, keys);
    EXPECT_LE(static_cast<double>(live_bytes - before), 8.0 * static_cast<double>(keys) + 16 * kKiB)
        << keys;
  }
}

TEST_P(FilterMemory, OfFinishIsKnownBeforeAndFreed) {
  for (const std::uint64_t keys :
       {100U, 1000U, 14142U, 14143U, 16385U, 28000U, 120000U, 226000U, 250000U, 452000U, 453000U,
        960000U, 960001U, 1600000U, 3000000U}) {
    SCOPED_TRACE(keys);
    FilterBuilder builder = BuilderOf(GetParam());
    const std::size_t before = live_bytes;
    AddNumbers(builder, keys);
    const double hashes = 8.0 * static_cast<double>(keys);
    const double per_key = GetParam() == FilterKind::kRibbon ? 2.0 : 4.0;
    const double most = std::max(768 * kKiB, per_key * static_cast<double>(keys));
    EXPECT_LE(static_cast<double>(live_bytes - before), hashes + 68 * kKiB);
    const std::size_t kept = live_bytes;
    peak_bytes = kept;
    const FilterBlock block = builder.Finish();
    const auto finish = static_cast<double>(peak_bytes - kept) - static_cast<double>(block.size);
    EXPECT_LE(finish, static_cast<double>(builder.FinishBytes(builder.Plan(keys))) + kRounding);
    EXPECT_LE(static_cast<double>(peak_bytes - before) - static_cast<double>(block.size) - hashes,
              most);
    EXPECT_LE(static_cast<double>(builder.FinishBytes(builder.Plan(keys))), most);
    EXPECT_LE(static_cast<double>(live_bytes - before),
              static_cast<double>(block.size) + kRounding);
  }
}

TEST_P(FilterMemory, OfFinishIsKnownWhereHashesAreKept) {
  for (const std::uint64_t keys : {1000U, 15600U, 15601U, 120000U, 1000000U}) {
    SCOPED_TRACE(keys);
    FilterBuilder builder = BuilderOf(GetParam(), 0.0, true);
    AddNumbers(builder, keys);
    const std::size_t kept = live_bytes;
    peak_bytes = kept;
    const FilterBlock block = builder.Finish();
    const auto finish = static_cast<double>(peak_bytes - kept) - static_cast<double>(block.size);
    EXPECT_LE(finish, static_cast<double>(builder.FinishBytes(builder.Plan(keys))) + kRounding);
  }
}

TEST(RibbonMemory, OfAMassOfEqualHashesIsBounded) {
  for (const std::uint64_t keys : {100000U, 600000U}) {
    FilterBuilder builder = BuilderOf(FilterKind::kRibbon);
    AddNumbers(builder, keys / 2);
    AddEqualHashes(builder, keys / 2);
    const std::size_t kept = live_bytes;
    peak_bytes = kept;
    const FilterBlock block = builder.Finish();
    const auto finish = static_cast<double>(peak_bytes - kept) - static_cast<double>(block.size);
    EXPECT_LE(finish, static_cast<double>(builder.FinishBytes(builder.Plan(keys))) + 272 * kKiB +
                          kRounding);
  }
}

TEST_P(FilterMemory, ForViewsIsNotNeeded) {
  FilterBuilder builder = BuilderOf(GetParam());
  AddNumbers(builder, 1000);
  const FilterBlock block = builder.Finish();
  allocations_left = 0;
  const FilterView view(block.bytes());
  const bool contained = view.MayContain(NumberKey(7).text());
  const double rate = view.FalsePositiveRate();
  // What the first view of a process asks.
  const std::string_view kernel = filter::ChooseInstructionSet("none of this name").name;
  EXPECT_EQ(allocations_left, 0) << "an allocation";
  allocations_left = kNever;
  EXPECT_TRUE(contained);
  EXPECT_EQ(kernel, filter::AvailableInstructionSets().front().name);
  EXPECT_LT(rate, 0.01);
}

// Hashes that a shard has too many of also need memory of their own.
TEST_P(FilterMemory, EachAllocationOfFinishFailsOnceAndNoKeyIsForgotten) {
  for (const bool detects_faults : {false, true}) {
    for (const double rate : {0.0, 0.01}) {
      for (const std::uint64_t keys : {500U, 40000U}) {
        bool has_failed = true;
        for (int allocation = 0; has_failed; ++allocation) {
          FilterBuilder builder = BuilderOf(GetParam(), rate, detects_faults);
          AddNumbers(builder, keys);
          FilterBlock block;
          allocations_left = allocation;
          try {
            block = builder.Finish();
            has_failed = allocations_left == kNever;
          } catch (const std::bad_alloc&) {
            EXPECT_EQ(builder.KeyCount(), keys);
          }
          allocations_left = kNever;
          if (block.data == nullptr) block = builder.Finish();
          const FilterView view(block.bytes());
          ASSERT_EQ(view.Description().keys, keys);
          ASSERT_EQ(CountPassing(view, keys), keys);
        }
      }
    }
  }
}

TEST(RibbonMemory, WithoutItForAMassOfHashesTheirShardPasses) {
  const auto finish = [](int allocations) {
    FilterBuilder builder = BuilderOf(FilterKind::kRibbon);
    AddNumbers(builder, 100000);
    AddEqualHashes(builder, 100000);
    allocations_left = allocations;
    FilterBlock block = builder.Finish();
    allocations_left = kNever;
    return block;
  };
  const FilterBlock solved = finish(kNever);
  EXPECT_LT(FilterView(solved.bytes()).FalsePositiveRate(), 0.0012);
  std::optional<double> passing_rate;
  for (int allocations = 0; allocations < 20 && !passing_rate; ++allocations) {
    try {
      const FilterBlock block = finish(allocations);
      const FilterView view(block.bytes());
      if (view.FalsePositiveRate() > 0.0012) passing_rate = view.FalsePositiveRate();
      ASSERT_EQ(CountPassing(view, 100000), 100000U);
    } catch (const std::bad_alloc&) {
      allocations_left = kNever;
    }
  }
  ASSERT_TRUE(passing_rate);
  const auto shards = static_cast<double>(FilterView(solved.bytes()).Description().shards);
  EXPECT_NEAR(*passing_rate, 1.0 / shards, 0.002);
}

TEST(RateMemory, NoneIsNeededUpToTheMostProbesOfAFilter) {
  allocations_left = 0;
  const double rate = FalsePositiveRate(BloomKind::kClassic, 8000, 80, kMaxProbes);
  const int probes = OptimalProbes(BloomKind::kClassic, 8000, 80);
  EXPECT_EQ(allocations_left, 0) << "an allocation";
  allocations_left = kNever;
  EXPECT_GT(rate, 0.0);
  EXPECT_GT(probes, 60);
}

}  // namespace
}  // namespace exactbloom
