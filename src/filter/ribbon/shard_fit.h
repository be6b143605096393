// Where the buckets of a shard begin, fitted to their counts of keys.
//
// Keys fall into buckets at random. If each bucket had as many slots as the others, rows of 64
// slots would not reach from the full ones to free slots, unless there were many more slots than
// keys. So a bucket's start slots take the place that its keys need, and what is left is the
// randomness within a bucket.
#pragma once

#include <array>
#include <cstdint>

#include "ribbon_format.h"

namespace exactbloom::filter {

struct ShardFit {
  std::array<std::int32_t, kMostBuckets + 1> starts;     // of each bucket, and the end
  std::array<signed char, kMostBuckets + 1> deviations;  // as a record stores them
};

// Of the slots of a shard, so many more than its keys' are for its ends.
inline constexpr std::uint32_t kSpareSlots = 26;

// Fits the starts of a shard that has `slots` slots, 64 at least, to the counts of its buckets.
ShardFit FitStarts(const std::uint32_t* counts, std::uint32_t buckets, std::uint32_t slots);

}  // namespace exactbloom::filter
