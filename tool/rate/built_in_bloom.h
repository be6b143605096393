// RocksDB's own Bloom filter, by its rules: how many cache lines and probes it has for a number of
// keys and bits per key. Source: RocksDB's util/bloom_impl.h and FastLocalBloomBitsBuilder, the
// same from 7.0 to 11.8.
#pragma once

#include <cstdint>

namespace exactbloom::tool {

// RocksDB makes no filter of fewer than half of these bits per key, and rounds others up to them.
inline constexpr std::uint64_t kFewestBuiltInMillibits = 1000;

struct BuiltInBloom {
  std::uint64_t lines = 0;
  int probes = 0;
  double rate = 1.0;

  std::uint64_t Bits() const;
  std::uint64_t BlockBytes() const;
};

// Returns the filter of `keys` keys, 1 .. 1e12.
//   millibits_per_key   a thousand times the bits per key, kFewestBuiltInMillibits .. 100,000
BuiltInBloom BuiltInBloomOf(std::uint64_t keys, std::uint64_t millibits_per_key);

}  // namespace exactbloom::tool
