// The 64-bit hash of a key, from which all of its bit positions derive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// Inlined, so that neither this library nor its users link with libxxhash.
#define XXH_INLINE_ALL
// Built for a processor with AVX-512, XXH3 uses intrinsics that GCC 12 wrongly warns of.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <xxhash.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace exactbloom::filter {

// XXH3 is part of the block format: it never changes for version 1.
inline std::uint64_t HashKey(std::string_view key, std::uint64_t seed) {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed);
}

// The most bytes that XXH3 hashes in one step. Where a key is known to be that short, a function
// that is marked `flatten` takes in no more of XXH3 than that step.
inline constexpr std::size_t kShortKeyBytes = 16;

__attribute__((noinline)) inline std::uint64_t HashLongKey(std::string_view key,
                                                           std::uint64_t seed) {
  return HashKey(key, seed);
}

// Hashes keys that are mostly short, and hands out each hash as take(hash).
template <typename Take>
__attribute__((always_inline)) inline void HashKeys(const std::string_view* keys, std::size_t count,
                                                    std::uint64_t seed, std::uint64_t* hashes,
                                                    Take take) {
  for (std::size_t i = 0; i < count; ++i) {
    hashes[i] =
        keys[i].size() > kShortKeyBytes ? HashLongKey(keys[i], seed) : HashKey(keys[i], seed);
    take(hashes[i]);
  }
}

}  // namespace exactbloom::filter
