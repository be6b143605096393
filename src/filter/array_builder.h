// Fills the array of a filter with the code words of its keys.
//
// An array that fits into a processor's caches is filled key by key. A larger one would take at
// least one cache miss per key. It is divided into ranges that fit, and filled in two passes: the
// first distributes the keys' entries to the ranges they touch, the second fills one range after
// the other. An entry is the last 32 bits of one position of a key.
//
// The entries take the memory of the hashes that have been distributed, and at most twice
// kScratchBytesPerKey of more memory per key: once for the first entries of each range, once for
// others. If the entries of all keys would take more, the keys are distributed in slices, each
// followed by a second pass.
#pragma once

#include <cstddef>

#include "hash_store.h"
#include "kernels/kernel.h"

namespace exactbloom::filter {

// An array above this size is filled range by range: a key has many entries, and distributing them
// takes longer than waiting for a third-level cache.
inline constexpr std::size_t kDirectArrayBytes = std::size_t{1} << 25;

// A range has half of a second-level cache.
inline constexpr int kRangeBytesLog2 = 19;
static_assert(std::size_t{2} << kRangeBytesLog2 == kSecondLevelCacheBytes);

inline constexpr std::size_t kScratchBytesPerKey = 2;

// Sets the whole array, whatever it held: the bits of all code words to 1, all others to 0.
// Consumes the hashes. Needs no memory but the scratch, and works without it if there is none.
void BuildArray(unsigned char* array, const BloomDescription& filter, HashStore& hashes);

// The same, always key by key or, if memory allows, always range by range. For tests.
void BuildArrayDirectly(unsigned char* array, const BloomDescription& filter, HashStore& hashes);
void BuildArrayByRange(unsigned char* array, const BloomDescription& filter, HashStore& hashes);

}  // namespace exactbloom::filter
