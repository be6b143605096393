// The kinds of filters: which bits a key may touch.
//
// A filter is an array of m bits, all zero at first. Adding a key sets the key's k bits; a key may
// be in the filter if all of its k bits are set. The kinds differ in how the k bits are drawn from
// the whole array:
//
//   classic    k distinct bits, every k-subset equally likely (Bloom 1970)
//   standard   k independent bits, each uniform; two may be equal (Knuth 1973)
//
// All draws of a key are independent of each other, and of those of all other keys.
#pragma once

#include <cstdint>

namespace exactbloom {

inline constexpr double kLn2 = 0.693147180559945309417;

// The most bits that a key may set. The best k at the largest configurable bits per key stays below
// it: kMaxBitsPerKey * ln 2 probes.
inline constexpr int kMaxProbes = 72;

// The most probes that the analysis takes. No filter has more than kMaxProbes; the examples of the
// literature do.
inline constexpr int kMaxAnalysisProbes = 255;

// The largest bits per key that can be configured, as in RocksDB's own filters.
inline constexpr double kMaxBitsPerKey = 100.0;

// Where bits per key are set, the array of a Bloom filter is a whole number of cache lines of this
// many bytes, as that of RocksDB's Bloom filter.
inline constexpr std::uint64_t kLineBytes = 64;

// With fewer bits per key a table of a division among runs, or of RocksDB's own policies, gets no
// filter: it would stop less than a quarter of the absent keys.
inline constexpr double kMinBitsPerKey = 0.5;

// A Ribbon filter takes no more: its rate is 1e-9 then, kMinTargetRate.
inline constexpr double kMaxRibbonBitsPerKey = 30.0;

enum class BloomKind : std::uint8_t { kStandard = 0, kClassic = 1 };

// The largest k of a filter of m bits, at most `most`.
constexpr int MostProbes(BloomKind kind, std::uint64_t bits, int most = kMaxProbes) {
  const bool fits = kind == BloomKind::kStandard || bits >= static_cast<std::uint64_t>(most);
  return fits ? most : static_cast<int>(bits);
}

// Whether there are filters of m bits with k probes.
constexpr bool Admits(BloomKind kind, std::uint64_t bits, int probes) {
  return bits > 0 && probes >= 1 && probes <= MostProbes(kind, bits);
}

}  // namespace exactbloom
