// Which bits of a filter a key may touch.
//
// A filter is an array of m bits, all zero at first. Adding a key sets the key's k bits; a key may
// be in the filter when all of its k bits are set. The layouts differ in how the k bits are drawn:
//
//   classic    k distinct bits, every k-subset equally likely (Bloom 1970)
//   standard   k independent bits, each uniform; two may fall together (Knuth 1973)
#pragma once

#include <cstdint>

namespace exactbloom {

enum class FilterKind : std::uint8_t { kStandard = 0, kClassic = 1 };

// The most bits that a key may set. The best k at the largest configurable bits per key stays below
// it: kMaxBitsPerKey * ln 2 probes.
inline constexpr int kMaxProbes = 72;

// The largest bits per key that can be configured, as in RocksDB's own filters.
inline constexpr double kMaxBitsPerKey = 100.0;

}  // namespace exactbloom
