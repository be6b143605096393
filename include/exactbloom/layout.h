// The layouts of filters: which bits a key may touch.
//
// A filter is an array of m bits, all zero at first. Adding a key sets the key's k bits; a key may
// be in the filter if all of its k bits are set. The layouts differ in how the k bits are drawn:
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
// Bits are drawn within a line by the kind: distinct ones for classic, independent ones for
// standard. All draws of a key are independent of each other, and of those of all other keys.
#pragma once

#include <cstdint>

namespace exactbloom {

inline constexpr double kLn2 = 0.693147180559945309417;

inline constexpr std::uint64_t kLineBits = 512;  // a cache line of 64 bytes
inline constexpr std::uint64_t kPageLines = 64;  // a page of 4 KiB

inline constexpr int kMaxLines = 2;  // lines that a key touches

// The most bits that a key may set. The best k at the largest configurable bits per key stays below
// it: kMaxBitsPerKey * ln 2 probes.
inline constexpr int kMaxProbes = 72;

// The largest bits per key that can be configured, as in RocksDB's own filters.
inline constexpr double kMaxBitsPerKey = 100.0;

// Below this many bits per key a filter is not worth its checks, as in RocksDB's own policies.
inline constexpr double kMinBitsPerKey = 0.5;

enum class FilterKind : std::uint8_t { kStandard = 0, kClassic = 1 };

// Where the bits of a key lie. The number is that of the cache lines that a key touches, as in the
// option `lines` and in the block; 0 stands for the whole array.
enum class BitPlacement : int { kAnywhere = 0, kOneLine = 1, kTwoLines = 2 };

// The layout of a filter: how its keys' bits are drawn. A kind alone stands for its layout with the
// bits anywhere.
struct Layout {
  constexpr Layout() = default;
  constexpr Layout(FilterKind k, BitPlacement p = BitPlacement::kAnywhere)  // NOLINT: implicit
      : kind(k), placement(p) {}
  // By the value of the option `lines`. A value other than 0, 1 and 2 makes an invalid layout.
  constexpr Layout(FilterKind k, int lines) : kind(k), placement(BitPlacement{lines}) {}

  constexpr bool IsValid() const { return Lines() >= 0 && Lines() <= kMaxLines; }

  // Whether a key's bits lie in one or two cache lines.
  constexpr bool InLines() const { return placement != BitPlacement::kAnywhere; }

  // The value of the option `lines`.
  constexpr int Lines() const { return static_cast<int>(placement); }

  // What m is a whole multiple of, in bits: 1, or a line.
  constexpr std::uint64_t Granularity() const { return InLines() ? kLineBits : 1; }

  // The same for the array of a block, in bytes.
  constexpr std::uint64_t ByteGranularity() const { return InLines() ? kLineBits / 8 : 1; }

  // The least m: one bit, or the lines that a key touches. (A classic filter also has at least k.)
  constexpr std::uint64_t LeastBits() const { return Granularity() * Parts(); }

  // k is a multiple of it.
  constexpr int ProbeStep() const { return static_cast<int>(Parts()); }

  // How many of a key's k bits lie in each of its lines; k if the bits lie anywhere.
  constexpr int ProbesPerLine(int probes) const { return probes / ProbeStep(); }

  // The largest k of a filter of m bits; a multiple of ProbeStep().
  constexpr int MostProbes(std::uint64_t bits) const {
    return kind == FilterKind::kStandard || bits > kMaxProbes ? kMaxProbes : static_cast<int>(bits);
  }

  // Whether there are filters of m bits with k probes in this layout, which is valid.
  constexpr bool Admits(std::uint64_t bits, int probes) const {
    return IsValid() && bits >= LeastBits() && bits % Granularity() == 0 && probes >= 1 &&
           probes <= MostProbes(bits) && probes % ProbeStep() == 0;
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

 private:
  // The number of parts of the array that a key's bits lie in.
  constexpr std::uint64_t Parts() const { return placement == BitPlacement::kTwoLines ? 2 : 1; }
};

}  // namespace exactbloom
