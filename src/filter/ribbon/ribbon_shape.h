// How many slots, shards and buckets the builder gives a filter, which rate it expects of them, and
// which shape a number of bytes or a rate gets.
#pragma once

#include <cstdint>
#include <optional>

#include "ribbon_format.h"

namespace exactbloom::filter {

// The most keys that a shard has on average. More keys in a shard save some slots and records, and
// take more memory.
inline constexpr std::uint64_t kMostMeanShardKeys = 15600;

// Whether a filter holds so many keys, at least one.
bool FitsRibbon(std::uint64_t keys);

// Slots, shards and buckets for `keys` keys, without columns. Without a slot if the filter has no
// keys, or more than there can be slots.
RibbonShape ShapeOfKeys(std::uint64_t keys);

// The first slot of a shard before which there are `keys_before` keys.
std::uint64_t FirstSlotAfter(std::uint64_t keys_before, std::uint32_t shard);

// The most keys of a shard that is solved: more than the hashes of `keys` keys give any, unless
// they were chosen to.
std::uint64_t MostShardKeys(std::uint64_t keys);

// Returns the shape of the best filter of `keys` keys in a block of at most `block_bytes`. Where
// they hold none that stops a key, the shape is one that lets all pass. Returns nothing if
// they do not even hold that one's.
std::optional<RibbonShape> ShapeWithin(std::uint64_t keys, std::uint64_t hash_seed,
                                       std::uint64_t block_bytes);

// Returns the shape of the fewest bytes whose expected rate is at most `target`, or else the one
// with the lowest rate.
RibbonShape ShapeOfRate(std::uint64_t keys, double target);

// The mean rate of filters of that shape. A single one's varies, because its buckets do.
double ExpectedRate(const RibbonShape& shape, std::uint64_t keys);

// A shape's columns and wide blocks as one number, by which the bytes grow and the rate falls.
std::uint64_t SizeStep(const RibbonShape& shape);
void SetSizeStep(RibbonShape& shape, std::uint64_t step);
std::uint64_t MostSizeStep(const RibbonShape& shape);

// The least step up to MostSizeStep for which `is_enough`, which holds from some step on; that one
// if it holds for none.
template <typename IsEnough>
std::uint64_t LeastSizeStep(const RibbonShape& shape, IsEnough is_enough) {
  std::uint64_t low = 0;
  std::uint64_t high = MostSizeStep(shape);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    RibbonShape tried = shape;
    SetSizeStep(tried, middle);
    if (is_enough(tried)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace exactbloom::filter
