// The 64-bit hash of a key, from which all of its bit positions derive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "../../analysis/requirements.h"
#include "inlined_xxhash.h"

namespace exactbloom::filter {

// XXH3 is part of the block format: it never changes.
inline std::uint64_t HashKey(std::string_view key, std::uint64_t seed) {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed);
}

// Keys of 9 to 16 bytes, which XXH3 hashes in one step that has no branch. Both halves are
// exclusive-ored with parts of its secret, which the seed is added to and subtracted from.
inline constexpr std::size_t kLeastMiddleBytes = 9;
inline constexpr std::size_t kMiddleSizes = 8;
inline constexpr std::uint64_t kLowFlip = 0x6782737bea4239b9U;
inline constexpr std::uint64_t kHighFlip = 0xaf56bc3b0996523aU;
inline constexpr std::uint64_t kAvalancheMultiplier = 0x165667919e3779f9U;

inline bool HasMiddleSize(std::string_view key) {
  return key.size() - kLeastMiddleBytes < kMiddleSizes;
}

inline std::uint64_t EightBytes(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

inline std::uint64_t HashMiddleKey(std::string_view key, std::uint64_t low_flip,
                                   std::uint64_t high_flip) {
  __extension__ using Product = unsigned __int128;
  const std::uint64_t low = EightBytes(key.data()) ^ low_flip;
  const std::uint64_t high = EightBytes(key.data() + key.size() - sizeof high) ^ high_flip;
  const Product product = static_cast<Product>(low) * high;
  std::uint64_t hash =
      key.size() + __builtin_bswap64(low) + high +
      (static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64));
  hash = (hash ^ (hash >> 37)) * kAvalancheMultiplier;
  return hash ^ (hash >> 32);
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
