// The 64-bit hash of a key, from which all of its bit positions derive.
#pragma once

#include <cstdint>
#include <string_view>

// Inlined, so that neither this library nor its users link with libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace exactbloom::filter {

// XXH3 is part of the block format: it never changes for version 1.
inline std::uint64_t HashKey(std::string_view key, std::uint64_t seed) {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed);
}

}  // namespace exactbloom::filter
