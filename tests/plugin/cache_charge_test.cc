// cache_usage_options: the memory of filter construction is charged to the block cache, and
// released.
#include "plugin/cache_charge.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bits_builder_fixture.h"
#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::Cache;
using rocksdb::CacheEntryRole;
using Decision = rocksdb::CacheEntryRoleOptions::Decision;

constexpr std::size_t kEntry = CacheCharge::kEntryBytes;

std::shared_ptr<Cache> NewCache(std::size_t capacity, bool is_strict = false) {
  rocksdb::LRUCacheOptions options;
  options.capacity = capacity;
  options.num_shard_bits = 0;
  options.strict_capacity_limit = is_strict;
  options.metadata_charge_policy = rocksdb::kDontChargeCacheMetadata;
  return rocksdb::NewLRUCache(options);
}

BlockBasedTableOptions OptionsThatCharge(std::shared_ptr<Cache> cache) {
  BlockBasedTableOptions options = PlannedSizes();
  options.block_cache = std::move(cache);
  options.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction].charged =
      Decision::kEnabled;
  return options;
}

// As RocksDB's Bloom filters do.
TEST(CacheCharge, AFullCacheRefusesAndIsAskedAgain) {
  const auto cache = NewCache(4 * kEntry, /*is_strict=*/true);
  CacheCharge charge(cache);
  charge.Set(6 * kEntry);
  EXPECT_EQ(cache->GetUsage(), 4 * kEntry);
  cache->SetCapacity(10 * kEntry);
  charge.Set(6 * kEntry);
  EXPECT_EQ(cache->GetUsage(), 6 * kEntry);
  charge.Set(0);
  EXPECT_EQ(cache->GetUsage(), 0U);
}

// Such a cache counts its own table as used, but not as pinned.
TEST(CacheCharge, WorksWithAHyperClockCache) {
  const auto cache = rocksdb::HyperClockCacheOptions(100 * kEntry, 4096, 0).MakeSharedCache();
  const std::size_t before = cache->GetUsage();
  {
    CacheCharge charge(cache);
    charge.Set(5 * kEntry);
    EXPECT_GE(cache->GetPinnedUsage(), 5 * kEntry);
    EXPECT_GE(cache->GetUsage(), before + 5 * kEntry);
  }
  EXPECT_EQ(cache->GetUsage(), before);
}

TEST(CacheCharge, FollowsTheOptions) {
  BlockBasedTableOptions options = PlannedSizes();
  options.block_cache = NewCache(kEntry);
  EXPECT_EQ(CacheToCharge(options), nullptr);
  options.cache_usage_options.options.charged = Decision::kEnabled;
  EXPECT_EQ(CacheToCharge(options), options.block_cache);
  Decision& own =
      options.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction].charged;
  EXPECT_EQ(CacheToCharge(options), options.block_cache) << "falls back";
  own = Decision::kDisabled;
  EXPECT_EQ(CacheToCharge(options), nullptr);
  EXPECT_EQ(CacheToCharge(OptionsThatCharge(options.block_cache)), options.block_cache);
  EXPECT_EQ(CacheToCharge(OptionsThatCharge(nullptr)), nullptr);
}

// What a builder says that it takes.
struct Charged {
  bool ribbon;
  bool detects_faults;
};

class ChargedBuilder : public testing::TestWithParam<Charged> {
 protected:
  static constexpr std::uint64_t kKeys = 200000;
  static constexpr std::size_t kHashBytes = kKeys * 8;

  static std::size_t RoundedUp(std::size_t bytes) { return (bytes + kEntry - 1) / kEntry * kEntry; }

  ChargedBuilder() {
    table_options_.detect_filter_construct_corruption = GetParam().detects_faults;
  }

  std::shared_ptr<Cache> cache_ = NewCache(std::size_t{64} << 20);
  BlockBasedTableOptions table_options_ = OptionsThatCharge(cache_);
  PolicyPointer policy_ =
      GetParam().ribbon ? NewFilterPolicy("exact_ribbon:10") : NewPolicy(BloomKind::kClassic);
  // Of the same filters.
  const FilterBuilder filters_ =
      *FilterBuilder::Create({GetParam().ribbon ? FilterKind::kRibbon : FilterKind::kClassicBloom,
                              10, 0, 0, kBlockBytesLimit, GetParam().detects_faults});
};

INSTANTIATE_TEST_SUITE_P(Kinds, ChargedBuilder,
                         testing::Values(Charged{false, false}, Charged{false, true},
                                         Charged{true, false}, Charged{true, true}),
                         [](const auto& test) {
                           return std::string(test.param.ribbon ? "Ribbon" : "Bloom") +
                                  (test.param.detects_faults ? "Detecting" : "");
                         });

TEST_P(ChargedBuilder, ChargesHashesAndThenBlocks) {
  auto builder = NewBuilder(*policy_, table_options_);
  Filter filters[2];
  std::size_t finished = 0;
  for (Filter& filter : filters) {
    AddNumbers(*builder, kKeys);
    // The most recent keys may not have been charged yet.
    EXPECT_LE(cache_->GetPinnedUsage(), RoundedUp(finished + kHashBytes));
    EXPECT_GE(cache_->GetPinnedUsage() + kEntry, RoundedUp(finished + kHashBytes));
    filter.contents = builder->Finish(&filter.buffer, nullptr);
    finished += filter.contents.size();
    EXPECT_EQ(filter.contents.size(), filters_.BlockBytes(kKeys));
    // Only detection keeps the hashes.
    EXPECT_EQ(cache_->GetPinnedUsage(),
              RoundedUp(finished + (GetParam().detects_faults ? kHashBytes : 0)));
    EXPECT_TRUE(builder->MaybePostVerify(filter.contents).ok());
    EXPECT_EQ(cache_->GetPinnedUsage(), RoundedUp(finished));
  }
  builder.reset();
  EXPECT_EQ(cache_->GetUsage(), 0U);
}

// What it takes for a moment drives other blocks from the cache.
TEST_P(ChargedBuilder, ChargesWhatFinishTakes) {
  constexpr std::size_t kCapacity = 64 * kEntry;
  const auto full = NewCache(kCapacity);
  for (std::size_t i = 0; i < kCapacity / kEntry; ++i) {
    Cache::Handle* handle = nullptr;
    ASSERT_TRUE(InsertCharge(*full, std::to_string(i), kEntry, &handle).ok());
    full->Release(handle);
  }
  ASSERT_EQ(full->GetUsage(), kCapacity);
  table_options_.block_cache = full;
  {
    const auto builder = NewBuilder(*policy_, table_options_);
    AddNumbers(*builder, kKeys);
    FinishAndVerify(*builder);
  }
  const FilterPlan plan = filters_.Plan(kKeys);
  const std::size_t most = RoundedUp(kHashBytes + plan.BlockBytes() +
                                     static_cast<std::size_t>(filters_.FinishBytes(plan)));
  EXPECT_GE(filters_.FinishBytes(plan), kKeys / 2);
  EXPECT_EQ(kCapacity - full->GetUsage(), most);
}

// RocksDB may abandon a table.
TEST_P(ChargedBuilder, GivesBackWithoutFinish) {
  auto builder = NewBuilder(*policy_, table_options_);
  AddNumbers(*builder, kKeys);
  EXPECT_GT(cache_->GetPinnedUsage(), kHashBytes / 2);
  builder.reset();
  EXPECT_EQ(cache_->GetUsage(), 0U);
}

TEST_P(ChargedBuilder, BuildsTheSameFilterInAFullCache) {
  table_options_.block_cache = NewCache(2 * kEntry, /*is_strict=*/true);
  const auto charged = NewBuilder(*policy_, table_options_);
  const auto plain = NewBuilder(*policy_);
  AddNumbers(*charged, kKeys);
  AddNumbers(*plain, kKeys);
  EXPECT_EQ(table_options_.block_cache->GetPinnedUsage(), 2 * kEntry);
  EXPECT_TRUE(FinishAndVerify(*charged).contents == FinishAndVerify(*plain).contents);
}

}  // namespace
}  // namespace exactbloom
