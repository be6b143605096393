// The probe positions of a key: its code word. This is the definition of the block format, which
// every kernel has to follow bit for bit.
//
// Draw i of a key with hash h out of a range of r positions is
//
//   floor(h A^(i+1) mod 2^64 * r / 2^64),   A = kDrawMultiplier
//
// the high half of a 128-bit product. With powers of one multiplier each draw of a key can be
// computed without the others. They sit on a lattice in 2^64; A was chosen so that the lattice of
// every pair of draws is a good one (the shortest vector is at least a fifth of the longest
// possible for all lags below kMaxProbes), because only the correlations of pairs are large enough
// to show in a rate.
//
//   standard   position i is draw i out of m
//   classic    Floyd's sampling (Bentley and Floyd 1987) gives k distinct positions, every k-subset
//              of the m equally likely. Draw i is out of m - k + 1 + i; where it falls on a
//              position already taken, the position m - k + i, which no earlier draw could reach,
//              is taken instead.
//
// The first k draws of a key lie in its code word, since an equal draw repeats an earlier position.
// So a query may say "absent" at the first draw whose bit is zero, before any equal draws are
// looked for.
#pragma once

#include <array>
#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom::filter {

inline constexpr std::uint64_t kDrawMultiplier = 0xd0ab4e5a2d11f3ddU;

namespace internal {
constexpr std::array<std::uint64_t, kMaxProbes> MultiplierPowers() {
  std::array<std::uint64_t, kMaxProbes> powers{};
  std::uint64_t power = 1;
  for (auto& entry : powers) entry = power *= kDrawMultiplier;
  return powers;
}
inline constexpr auto kMultiplierPowers = MultiplierPowers();
}  // namespace internal

// Returns floor(a * b / 2^64).
inline std::uint64_t MultiplyHigh(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Product>(a) * b) >> 64);
}

inline std::uint64_t Draw(std::uint64_t hash, int i, std::uint64_t range) {
  return MultiplyHigh(hash * internal::kMultiplierPowers[static_cast<std::size_t>(i)], range);
}

// The positions of one key.
struct CodeWord {
  std::array<std::uint64_t, kMaxProbes> positions;
  int size = 0;

  bool Contains(std::uint64_t position) const {
    for (int i = 0; i < size; ++i) {
      if (positions[static_cast<std::size_t>(i)] == position) return true;
    }
    return false;
  }

  void Append(std::uint64_t position) { positions[static_cast<std::size_t>(size++)] = position; }
};

// Requires probes in 1 .. kMaxProbes and bits >= 1, for the classic kind at least `probes`. The
// standard code word may name a position twice.
inline CodeWord MakeCodeWord(BloomKind kind, std::uint64_t hash, std::uint64_t bits, int probes) {
  CodeWord word;
  for (int i = 0; i < probes; ++i) {
    if (kind == BloomKind::kStandard) {
      word.Append(Draw(hash, i, bits));
    } else {
      const std::uint64_t last = bits - static_cast<std::uint64_t>(probes - i);
      const std::uint64_t draw = Draw(hash, i, last + 1);
      word.Append(word.Contains(draw) ? last : draw);
    }
  }
  return word;
}

// Bit p of an array of bytes is bit p mod 8, counted from the least significant, of byte p / 8.
inline bool TestBit(const unsigned char* array, std::uint64_t position) {
  return ((array[position >> 3] >> (position & 7)) & 1) != 0;
}

inline void SetBit(unsigned char* array, std::uint64_t position) {
  array[position >> 3] = static_cast<unsigned char>(array[position >> 3] | (1U << (position & 7)));
}

}  // namespace exactbloom::filter
