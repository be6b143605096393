// How much memory a build takes besides the filter that it makes, and what needs none. This program
// replaces the allocation functions.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/sizing.h"
#include "replaced_allocation.h"
#include "sample_filters.h"
#include "src/filter/kernels/kernel.h"

namespace exactbloom {
namespace {

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> peak_bytes{0};

bool no_memory_left = false;

}  // namespace

void* AllocateOrNull(std::size_t size) {
  void* memory = no_memory_left ? nullptr : std::malloc(size);
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

TEST(ViewMemory, NoneIsNeeded) {
  FilterBuilder builder = *FilterBuilder::Create({});
  builder.AddKey("apple");
  const FilterBlock block = builder.Finish();
  no_memory_left = true;
  const FilterView view(block.bytes());
  const bool contained = view.MayContain("apple");
  // What the first view of a process asks.
  const std::string_view kernel = filter::ChooseInstructionSet("none of this name").name;
  no_memory_left = false;
  EXPECT_TRUE(contained);
  EXPECT_EQ(kernel, filter::AvailableInstructionSets().front().name);
}

TEST(RateMemory, NoneIsNeededUpToTheMostProbesOfAFilter) {
  no_memory_left = true;
  const double rate = FalsePositiveRate(BloomKind::kClassic, 8000, 80, kMaxProbes);
  const int probes = OptimalProbes(BloomKind::kClassic, 8000, 80);
  no_memory_left = false;
  EXPECT_GT(rate, 0.0);
  EXPECT_GT(probes, 60);
}

}  // namespace
}  // namespace exactbloom
