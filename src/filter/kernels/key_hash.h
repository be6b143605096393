// The 64-bit hash of a key, from which all of its bit positions derive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inlined_xxhash.h"

namespace exactbloom::filter {

// XXH3 is part of the block format: it never changes.
inline std::uint64_t HashKey(std::string_view key, std::uint64_t seed) {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed);
}

// The most bytes that XXH3 hashes in one step. If a key is known to be that short, a function that
// is marked `flatten` inlines only that step of XXH3.
inline constexpr std::size_t kShortKeyBytes = 16;

__attribute__((noinline)) inline std::uint64_t HashLongKey(std::string_view key,
                                                           std::uint64_t seed) {
  return HashKey(key, seed);
}

// The same hash, for a function that is marked `flatten` and whose keys are mostly short.
__attribute__((always_inline)) inline std::uint64_t HashMostlyShortKey(std::string_view key,
                                                                       std::uint64_t seed) {
  return key.size() > kShortKeyBytes ? HashLongKey(key, seed) : HashKey(key, seed);
}

}  // namespace exactbloom::filter
