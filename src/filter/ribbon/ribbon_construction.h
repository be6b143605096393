// Makes the block of a Ribbon filter of hashes.
//
// Shard by shard: the hashes become equations, whose starts are fitted to the counts of the shard's
// buckets; elimination gives each equation a slot; substitution solves for the columns' bits. A
// shard whose equations contradict each other is made again with another seed, and after the last
// one it lets every key pass. None of it depends on the order of the hashes: which slots have
// equations, and the solution in which free slots are 0, are properties of the set of equations.
#pragma once

#include <cstdint>

#include "../hash_store.h"
#include "ribbon_shape.h"

namespace exactbloom::filter {

struct RibbonPurpose {
  RibbonShape shape;  // of as many keys as there are hashes
  std::uint64_t hash_seed = 0;
  // Unless zero, the rate that the filter is to keep: it gets more columns if its own rate is
  // above.
  double target_rate = 0.0;
  std::uint64_t most_block_bytes = 0;  // with a target rate
};

// Consumes the hashes. Throws std::bad_alloc; the hashes are all there then.
FilterBlock BuildRibbonBlock(const RibbonPurpose& purpose, HashStore& hashes);

// The most memory that BuildRibbonBlock takes besides the block and the hashes of a store that does
// this with them, but for shards of more hashes than are solved.
std::uint64_t RibbonScratchBytes(std::uint64_t keys, Consumed consumed);

}  // namespace exactbloom::filter
