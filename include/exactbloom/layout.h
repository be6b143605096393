// Which bits of a filter a key may touch.
//
// A filter is an array of m bits, all zero at first. Adding a key sets the key's k bits; a key may
// be in the filter when all of its k bits are set. The layouts differ in how the k bits are drawn:
//
//   classic    k distinct bits, every k-subset equally likely (Bloom 1970)
//   standard   k independent bits, each uniform; two may fall together (Knuth 1973)
//
// and in where they may fall. With lines = 0 the m bits of the filter are one range. The other two
// layouts divide them into lines of kLineBits bits, so that a query touches one or two cache lines
// (Putze et al. 2007, Qiao et al. 2011); m is a whole number of lines:
//
//   lines = 1  a line is drawn, uniform over all lines, and the k bits are drawn within it
//   lines = 2  the lines are grouped, in order, into pages of kPageLines lines; the lines that
//              remain belong to the last page, which so has up to 2 kPageLines - 1 of them (a
//              filter of fewer lines is one page). The first line is drawn uniform over all lines
//              of the filter, the second uniform over the other lines of the same page, so the two
//              are distinct. k is even, and k/2 bits are drawn within each.
//
// "Drawn within a line" means as the kind says: distinct bits for classic, independent ones for
// standard. All draws of a key are independent of each other, and of those of all other keys.
#pragma once

#include <cstdint>

namespace exactbloom {

enum class FilterKind : std::uint8_t { kStandard = 0, kClassic = 1 };

// The layout of a filter: how its keys' bits are drawn. A kind alone stands for its layout with
// lines = 0.
struct Layout {
  constexpr Layout() = default;
  constexpr Layout(FilterKind k, int l = 0) : kind(k), lines(l) {}  // NOLINT: implicit as described

  FilterKind kind = FilterKind::kClassic;
  int lines = 0;  // 0, 1 or 2
};

inline constexpr std::uint64_t kLineBits = 512;  // a cache line of 64 bytes
inline constexpr std::uint64_t kPageLines = 64;  // a page of 4 KiB

inline constexpr int kMaxLines = 2;  // lines that a key touches

// The granularity of m in a layout: 1 bit, or a line.
constexpr std::uint64_t BitGranularity(Layout layout) { return layout.lines == 0 ? 1 : kLineBits; }

// The most bits that a key may set. The best k at the largest configurable bits per key stays below
// it: kMaxBitsPerKey * ln 2 probes.
inline constexpr int kMaxProbes = 72;

// The largest bits per key that can be configured, as in RocksDB's own filters.
inline constexpr double kMaxBitsPerKey = 100.0;

// Below this many bits per key a filter is not worth its checks, as in RocksDB's own policies.
inline constexpr double kMinBitsPerKey = 0.5;

}  // namespace exactbloom
