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

}  // namespace exactbloom::filter
