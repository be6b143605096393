// One policy used by many threads at once: a reader shared by all of them, and a builder each.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/allocation/allocation.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/filter_bits_interface.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr int kThreads = 8;
constexpr std::uint64_t kKeys = 5000;

template <typename Work>
void RunInThreads(Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

std::string BuildWith(const rocksdb::FilterPolicy& policy,
                      const rocksdb::BlockBasedTableOptions& table_options = PlannedSizes(),
                      int level = 0) {
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(CompactionContext(table_options, 7, level)));
  for (std::uint64_t i = 0; i < kKeys; ++i) builder->AddKey(KeyOf(i));
  std::unique_ptr<const char[]> buffer;
  rocksdb::Status status;
  return builder->Finish(&buffer, &status).ToString();
}

class PolicyConcurrent : public testing::TestWithParam<FilterKind> {
 protected:
  const PolicyPointer policy_ = NewPolicy(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Kinds, PolicyConcurrent,
                         testing::Values(FilterKind::kClassic, FilterKind::kStandard));

// Builders share the policy's balance of sizes and the cache that they are charged to.
TEST_P(PolicyConcurrent, BuildersWithEverySwitchWorkInParallel) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = true;
  table_options.detect_filter_construct_corruption = true;
  table_options.block_cache = rocksdb::NewLRUCache(std::size_t{64} << 20);
  table_options.cache_usage_options.options.charged =
      rocksdb::CacheEntryRoleOptions::Decision::kEnabled;
  std::atomic<std::uint64_t> found{0};
  RunInThreads([&](int) {
    for (int table = 0; table < 10; ++table) {
      const std::string contents = BuildWith(*policy_, table_options);
      const std::unique_ptr<rocksdb::FilterBitsReader> reader(
          policy_->GetFilterBitsReader(contents));
      for (std::uint64_t i = 0; i < kKeys; i += 50) found += reader->MayMatch(KeyOf(i)) ? 1U : 0U;
    }
  });
  EXPECT_EQ(found, kThreads * 10 * kKeys / 50);
  EXPECT_EQ(table_options.block_cache->GetUsage(), 0U);
}

TEST_P(PolicyConcurrent, OneReaderIsAskedByManyThreads) {
  const std::string contents = BuildWith(*policy_);
  const std::unique_ptr<rocksdb::FilterBitsReader> reader(policy_->GetFilterBitsReader(contents));
  std::atomic<std::uint64_t> found{0};
  RunInThreads([&](int thread) {
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      const std::string text = KeyOf((i + static_cast<std::uint64_t>(thread) * 100) % kKeys);
      rocksdb::Slice key(text);
      rocksdb::Slice* pointer = &key;
      bool batched = false;
      reader->MayMatch(1, &pointer, &batched);
      mine += reader->MayMatch(key) && batched ? 1U : 0U;
    }
    found += mine;
  });
  EXPECT_EQ(found, kThreads * kKeys);
}

// Policies compute on first use, and keep, the division among levels, the sizes of Ribbon filters
// and the sizes for a rate.
TEST(PolicyMemory, FirstTablesMayBeBuiltInParallel) {
  PolicyOptions by_level(PolicyKind::kExactBloom);
  by_level.size_ratio = 10;
  PolicyOptions by_rate;
  by_rate.fpr = 0.02;
  for (const PolicyOptions& options : {by_level, by_rate}) {
    for (const int level : {0, 6}) {
      const std::string expected = BuildWith(BloomFilterPolicy(options), PlannedSizes(), level);
      const PolicyPointer fresh = std::make_shared<BloomFilterPolicy>(options);
      std::atomic<int> equal{0};
      RunInThreads(
          [&](int) { equal += BuildWith(*fresh, PlannedSizes(), level) == expected ? 1 : 0; });
      EXPECT_EQ(equal, kThreads);
    }
  }
}

}  // namespace
}  // namespace exactbloom
