// How much memory a build takes besides the filter that it makes, and what needs none. This program
// replaces the allocation functions.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <new>
#include <utility>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_sizer.h"
#include "sample_filters.h"
#include "src/filter/kernels/kernel_table.h"

namespace {

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> peak_bytes{0};

bool no_memory_left = false;
thread_local std::function<void()> on_next_allocation;

void* AllocateOrNull(std::size_t size) {
  if (no_memory_left) return nullptr;
  if (on_next_allocation) std::exchange(on_next_allocation, nullptr)();
  void* memory = std::malloc(size);
  if (memory == nullptr) return nullptr;
  const std::size_t live = live_bytes += malloc_usable_size(memory);
  if (live > peak_bytes) peak_bytes = live;
  return memory;
}

void* Allocate(std::size_t size) {
  void* memory = AllocateOrNull(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Free(void* memory) {
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
// The sanitizers' own would not be freed by the operators below.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return AllocateOrNull(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return AllocateOrNull(size);
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { Free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { Free(memory); }

namespace exactbloom {
namespace {

class BuildMemory : public testing::TestWithParam<Layout> {};

INSTANTIATE_TEST_SUITE_P(Layouts, BuildMemory,
                         testing::Values(Layout{FilterKind::kClassic, 0},
                                         Layout{FilterKind::kClassic, 1}),
                         [](const auto& test) { return NameOf(test.param); });

// As many keys as it takes to fill the array range by range in every layout.
TEST_P(BuildMemory, IsTwelveBytesAKeyBesideTheFilter) {
  constexpr std::uint64_t kKeys = 4000000;
  constexpr double kBitsPerKey = 70.0;
  constexpr double kKeptBytesPerKey = 8.0;
  constexpr double kMostBytesPerKey = 12.0;
  constexpr double kFixedBytes = 1 << 17;
  const std::size_t before = live_bytes;
  peak_bytes = before;
  BloomFilterBuilder builder = *BloomFilterBuilder::Create({GetParam(), kBitsPerKey, 0});
  for (std::uint64_t i = 0; i < kKeys; ++i) builder.AddKey(NumberKey(i).text());
  EXPECT_LE(static_cast<double>(live_bytes - before), kKeptBytesPerKey * kKeys + kFixedBytes);
  const FilterBlock block = builder.Finish();
  const double beside = static_cast<double>(peak_bytes - before) - static_cast<double>(block.size);
  EXPECT_LE(beside, kMostBytesPerKey * kKeys + kFixedBytes);
  EXPECT_LE(static_cast<double>(live_bytes - before),
            static_cast<double>(block.size) + kFixedBytes);
}

TEST(ViewMemory, NoneIsNeeded) {
  BloomFilterBuilder builder = *BloomFilterBuilder::Create({});
  builder.AddKey("apple");
  const FilterBlock block = builder.Finish();
  no_memory_left = true;
  const BloomFilterView view(block.bytes());
  const bool contained = view.MayContain("apple");
  // What the first view of a process asks.
  const std::string_view kernel = filter::ChooseInstructionSet("none of this name").name;
  no_memory_left = false;
  EXPECT_TRUE(contained);
  EXPECT_EQ(kernel, filter::AvailableInstructionSets().front().name);
}

// The first allocation of a search is that of an evaluation of the exact rate. Another thread gets
// its answer from the same sizer then; the time is no verdict but ends a wait for ever.
TEST(FilterSizerLock, IsNotHeldWhileRatesAreEvaluated) {
  static FilterSizer& sizer = *new FilterSizer({FilterKind::kClassic, 1});
  const FilterSize known = *sizer.SmallestFilter(1000, 0.01);
  std::future<int> other;
  bool answered = false;
  on_next_allocation = [&] {
    other = std::async(std::launch::async, [&known] {
      return sizer.SmallestFilter(1000, 0.01)->probes + sizer.OptimalProbes(known.bits, 1000);
    });
    answered = other.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
  };
  EXPECT_TRUE(sizer.SmallestFilter(5000, 0.02));
  ASSERT_TRUE(other.valid());
  EXPECT_TRUE(answered);
  EXPECT_EQ(other.get(), 2 * known.probes);
}

}  // namespace
}  // namespace exactbloom
