// One view queried by many threads, and one builder per thread, for the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "sample_filters.h"

namespace exactbloom {
namespace {

constexpr int kThreads = 8;
constexpr std::uint64_t kKeys = 20000;

template <typename Work>
void RunInThreads(Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

FilterBlock BuildOf(FilterKind kind, std::uint64_t first) {
  BloomFilterBuilder builder = *BloomFilterBuilder::Create({kind, 10, 0});
  for (std::uint64_t i = 0; i < kKeys; ++i) builder.AddKey(NumberKey(first + i).text());
  return builder.Finish();
}

TEST(Concurrent, OneViewIsAskedByManyThreads) {
  for (const FilterKind kind : {FilterKind::kClassic, FilterKind::kStandard}) {
    const FilterBlock block = BuildOf(kind, 0);
    const BloomFilterView view(block.bytes());
    std::atomic<std::uint64_t> found{0};
    RunInThreads([&](int) {
      std::uint64_t mine = 0;
      for (std::uint64_t i = 0; i < kKeys; ++i)
        mine += view.MayContain(NumberKey(i).text()) ? 1 : 0;
      found += mine;
    });
    EXPECT_EQ(found, kThreads * kKeys);
  }
}

TEST(Concurrent, ParallelBuildersMakeTheSameBlocks) {
  std::vector<FilterBlock> blocks(kThreads);
  RunInThreads([&](int thread) {
    blocks[static_cast<std::size_t>(thread)] =
        BuildOf(FilterKind::kClassic, static_cast<std::uint64_t>(thread % 2));
  });
  for (int i = 2; i < kThreads; ++i) {
    const auto index = static_cast<std::size_t>(i);
    EXPECT_EQ(blocks[index].bytes(), blocks[index % 2].bytes());
  }
  EXPECT_NE(blocks[0].bytes(), blocks[1].bytes());
}

}  // namespace
}  // namespace exactbloom
