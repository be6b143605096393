// The layouts of filters: which bits a key may touch.
//
// A filter is an array of m bits, all zero at first. Adding a key sets the key's k bits; a key may
// be in the filter if all of its k bits are set. The layouts differ in how the k bits are drawn:
//
//   classic    k distinct bits, every k-subset equally likely (Bloom 1970)
//   standard   k independent bits, each uniform; two may be equal (Knuth 1973)
//
// and in where they lie:
//
//   lines = 0  anywhere in the array
//   lines = 1  in one line of kLineBits bits, so that a query touches one cache line (Putze et al.
//              2007). The line is uniform over all lines of the array; m is a multiple of kLineBits
//
// All draws of a key are independent of each other, and of those of all other keys.
#pragma once

#include <cstdint>

namespace exactbloom {

inline constexpr double kLn2 = 0.693147180559945309417;

inline constexpr std::uint64_t kLineBits = 512;  // a cache line of 64 bytes

// The largest value of the option `lines`.
inline constexpr int kMaxLines = 1;

// The most bits that a key may set. The best k at the largest configurable bits per key stays below
// it: kMaxBitsPerKey * ln 2 probes.
inline constexpr int kMaxProbes = 72;

// The largest bits per key that can be configured, as in RocksDB's own filters.
inline constexpr double kMaxBitsPerKey = 100.0;

// Below this many bits per key a filter is not worth its checks, as in RocksDB's own policies.
inline constexpr double kMinBitsPerKey = 0.5;

enum class FilterKind : std::uint8_t { kStandard = 0, kClassic = 1 };

// Where the bits of a key lie. The number is the value of the option `lines` and of the block's
// field: the number of cache lines that a key touches, or 0 for the whole array.
enum class BitPlacement : int { kAnywhere = 0, kOneLine = 1 };

// The layout of a filter: how its keys' bits are drawn. A kind alone stands for its layout with the
// bits anywhere.
struct Layout {
  constexpr Layout() = default;
  constexpr Layout(FilterKind k, BitPlacement p = BitPlacement::kAnywhere)  // NOLINT: implicit
      : kind(k), placement(p) {}
  // By the value of the option `lines`. A value other than 0 and 1 makes an invalid layout.
  constexpr Layout(FilterKind k, int lines) : kind(k), placement(BitPlacement{lines}) {}

  constexpr bool IsValid() const { return Lines() >= 0 && Lines() <= kMaxLines; }

  // Whether a key's bits lie in one cache line.
  constexpr bool InLines() const { return placement != BitPlacement::kAnywhere; }

  // The value of the option `lines`.
  constexpr int Lines() const { return static_cast<int>(placement); }

  // What m is a whole multiple of, in bits: 1, or a line. Also the least m. (A classic filter has
  // at least k bits, too.)
  constexpr std::uint64_t Granularity() const { return InLines() ? kLineBits : 1; }

  // The same for the array of a block, in bytes.
  constexpr std::uint64_t ByteGranularity() const { return InLines() ? kLineBits / 8 : 1; }

  // The largest k of a filter of m bits.
  constexpr int MostProbes(std::uint64_t bits) const {
    return kind == FilterKind::kStandard || bits > kMaxProbes ? kMaxProbes : static_cast<int>(bits);
  }

  // Whether there are filters of m bits with k probes in this layout, which is valid.
  constexpr bool Admits(std::uint64_t bits, int probes) const {
    return IsValid() && bits > 0 && bits % Granularity() == 0 && probes >= 1 &&
           probes <= MostProbes(bits);
  }

  friend constexpr bool operator==(Layout a, Layout b) {
    return a.kind == b.kind && a.placement == b.placement;
  }
  friend constexpr bool operator!=(Layout a, Layout b) { return !(a == b); }

  // Any order, for layouts as keys of a map.
  friend constexpr bool operator<(Layout a, Layout b) {
    return a.kind != b.kind ? a.kind < b.kind : a.placement < b.placement;
  }

  FilterKind kind = FilterKind::kClassic;
  BitPlacement placement = BitPlacement::kAnywhere;
};

}  // namespace exactbloom
