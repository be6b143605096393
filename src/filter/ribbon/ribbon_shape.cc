#include "ribbon_shape.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "shard_fit.h"

namespace exactbloom::filter {
namespace {

// More slots per key make fewer steps of elimination and fewer shards that fail, and so do smaller
// buckets, whose records are longer. These are the fastest with which no filter of 20,000 keys and
// more takes 1.9% above the bound at 10 bits per key.
constexpr std::uint64_t kBucketKeys = 160;
constexpr std::uint64_t kKeysPerFreeSlot = 300;

// From so many keys on there are so many shards at least, so that solving one takes no more memory
// than 16 bits for each key of the filter.
constexpr std::uint64_t kManyKeys = 250'000;
constexpr std::uint64_t kShardsOfManyKeys = 24;

std::uint64_t ShardsOfKeys(std::uint64_t keys) {
  const std::uint64_t shards = (keys + (kMostMeanShardKeys - 1)) / kMostMeanShardKeys;
  return keys < kManyKeys ? shards : std::max(shards, kShardsOfManyKeys);
}

// A filter of one shard is made again with another seed in microseconds, so that it needs fewer
// free slots: a seed solves 246 keys with a probability of 0.79, and 1,000 with 0.96. In
// blocks as large as those of RocksDB's Ribbon filter of 17 to 1,000 keys and 10 bits per key the
// mean rate is 0.84 of that with as many free slots as several shards have. 0.5 in place of 0.7
// would lower it by 5%, and take up to 1.5 times as long to build.
std::uint64_t SlotsOfOneShard(std::uint64_t keys) {
  const auto free_slots = static_cast<std::uint64_t>(0.7 * std::sqrt(static_cast<double>(keys)));
  return std::min(keys + free_slots, FirstSlotAfter(keys, 1));
}

std::uint64_t RoundedUp(std::uint64_t slots) {
  return (slots + (kSlotUnit - 1)) / kSlotUnit * kSlotUnit;
}

}  // namespace

std::uint64_t FirstSlotAfter(std::uint64_t keys_before, std::uint32_t shard) {
  return keys_before + keys_before / kKeysPerFreeSlot + std::uint64_t{shard} * kSpareSlots;
}

bool FitsRibbon(std::uint64_t keys) { return ShapeOfKeys(keys).slots != 0; }

RibbonShape ShapeOfKeys(std::uint64_t keys) {
  RibbonShape shape;
  if (keys == 0 || keys > kMostSlots) return shape;
  const std::uint64_t shards = ShardsOfKeys(keys);
  // Halves are rounded down, or the largest shards would have a bucket more than those of a key
  // more.
  const std::uint64_t buckets = (keys / shards + (kBucketKeys / 2 - 1)) / kBucketKeys;
  shape.shards = static_cast<std::uint32_t>(shards);
  const std::uint64_t wanted =
      shards == 1 ? SlotsOfOneShard(keys) : FirstSlotAfter(keys, shape.shards);
  const std::uint64_t slots = RoundedUp(std::max<std::uint64_t>(wanted, kRowBits));
  if (slots > kMostSlots) return {};
  shape.slots = static_cast<std::uint32_t>(slots);
  shape.buckets = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(buckets, 1, kMostBuckets));
  return shape;
}

std::uint64_t MostShardKeys(std::uint64_t keys) {
  const std::uint64_t shards = ShardsOfKeys(keys);
  if (shards == 1) return keys;
  const std::uint64_t mean = keys / shards;
  // The number of keys is binomial; above 8 standard deviations there is one shard in 10^15.
  const auto deviations = static_cast<std::uint64_t>(8.0 * std::sqrt(static_cast<double>(mean)));
  return std::min(keys, mean + deviations);
}

std::uint64_t SizeStep(const RibbonShape& shape) {
  return std::uint64_t{shape.columns} * shape.Blocks() + shape.wide_blocks;
}

void SetSizeStep(RibbonShape& shape, std::uint64_t step) {
  shape.columns = static_cast<std::uint32_t>(step / shape.Blocks());
  shape.wide_blocks = static_cast<std::uint32_t>(step % shape.Blocks());
}

std::uint64_t MostSizeStep(const RibbonShape& shape) {
  return std::uint64_t{kMostColumns} * shape.Blocks();
}

std::optional<RibbonShape> ShapeWithin(std::uint64_t keys, std::uint64_t hash_seed,
                                       std::uint64_t block_bytes) {
  if (block_bytes < RibbonTrailerBytes(keys, hash_seed)) return std::nullopt;
  RibbonShape shape = ShapeOfKeys(keys);
  if (shape.slots == 0) {
    shape.columns = keys == 0 ? kNonePassColumns : kAllPassColumns;
    return shape;
  }
  const std::uint64_t other_bytes = RibbonBlockBytes(shape, keys, hash_seed);
  if (other_bytes >= block_bytes) return RibbonShape{};
  FillColumns(shape, block_bytes - other_bytes);
  return SizeStep(shape) == 0 ? RibbonShape{} : shape;
}

RibbonShape ShapeOfRate(std::uint64_t keys, double target) {
  RibbonShape shape = ShapeOfKeys(keys);
  if (shape.slots == 0) {
    shape.columns = keys == 0 ? kNonePassColumns : kAllPassColumns;
    return shape;
  }
  SetSizeStep(shape, LeastSizeStep(shape, [&](const RibbonShape& tried) {
                return ExpectedRate(tried, keys) <= target;
              }));
  return shape;
}

// That of a filter whose buckets have equally many keys, as far as whole numbers are equal. Only
// the shard in which the wide blocks begin has to be fitted.
double ExpectedRate(const RibbonShape& shape, std::uint64_t keys) {
  if (shape.shards == 0) return shape.columns == kAllPassColumns ? 1.0 : 0.0;
  if (shape.wide_blocks == 0) return RateOfColumns(shape.columns, 1.0);
  const std::uint64_t shards = shape.shards;
  const auto keys_before = [&](std::uint64_t shard) {
    return keys / shards * shard + keys % shards * shard / shards;
  };
  const auto first_slot = [&](std::uint64_t shard) {
    return FirstSlotAfter(keys_before(shard), static_cast<std::uint32_t>(shard));
  };
  const std::uint64_t first_wide_slot = shape.FirstWideSlot();
  std::uint64_t shard = std::min(first_wide_slot * shards / shape.slots + 1, shards - 1);
  while (first_slot(shard) > first_wide_slot) --shard;
  const std::uint64_t shard_keys = keys_before(shard + 1) - keys_before(shard);
  std::array<std::uint32_t, kMostBuckets> counts;
  for (std::uint64_t b = 0; b < shape.buckets; ++b) {
    counts[b] = static_cast<std::uint32_t>(shard_keys * (b + 1) / shape.buckets -
                                           shard_keys * b / shape.buckets);
  }
  const std::uint64_t end = shard + 1 == shards ? shape.slots : first_slot(shard + 1);
  const ShardFit fit =
      FitStarts(counts.data(), shape.buckets, static_cast<std::uint32_t>(end - first_slot(shard)));
  const double within = ShareBefore(first_wide_slot, static_cast<std::uint32_t>(first_slot(shard)),
                                    fit.starts.data(), shape.buckets);
  return RateOfColumns(shape.columns,
                       (static_cast<double>(shard) + within) / static_cast<double>(shards));
}

}  // namespace exactbloom::filter
