// The probe positions of a key: its code word. This is the definition of the block format, which
// every kernel has to follow bit for bit.
//
// lines = 0. Draw i of a key with hash h out of a range of r positions is
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
// lines = 1. The line is floor(h L / 2^64), of L lines. A line has 2^9 bits, so one 64-bit word y
// of hash bits names seven positions: its field i is (y >> 9 i) mod 2^9. The words of a key are
//
//   y_0 = h A,   y_(j+1) = (y_j xor floor(y_j / 2^32)) A
//
// The low bits of a product depend only on the low bits of its factors, so each field of a word is
// a function of few bits of the word before. With the fold (the xor) these bits come from two
// fields, neither of which is informative by itself. Without it they come from one field, or two
// neighbours, and a line's bits depend on each other: two plain products of one word cost up to 6%
// in the rate, and a rotation instead of the fold 0.9% with more than one word. The fields of y_0,
// y_1 and so on are the key's field stream.
//
//   standard   the positions are the first k fields of the stream
//   classic    the first k different fields
//
// A stream ends after kStreamFields fields. A classic word that is incomplete then (with a hash
// such as 0, and with a probability too small to show in any rate) takes the lowest positions that
// it lacks.
//
// In every layout the first k draws of a key lie in its code word, since an equal draw repeats an
// earlier position. So a query may say "absent" at the first draw whose bit is zero, before any
// equal draws are looked for.
#pragma once

#include <algorithm>
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

// The line of a key, counted from the start of the array.
inline std::uint64_t LineOf(std::uint64_t hash, std::uint64_t line_count) {
  return MultiplyHigh(hash, line_count);
}

// The words of hash bits that a key's fields come from.
inline std::uint64_t FirstFieldWord(std::uint64_t hash) { return hash * kDrawMultiplier; }

inline std::uint64_t NextFieldWord(std::uint64_t word) {
  return (word ^ (word >> 32)) * kDrawMultiplier;
}

inline constexpr int kFieldBits = 9;
static_assert(kLineBits == std::uint64_t{1} << kFieldBits);

inline constexpr int kFieldsOfWord = 7;
inline constexpr int kStreamFields = 36 * kFieldsOfWord;

inline unsigned Field(std::uint64_t word, int i) {
  return static_cast<unsigned>(word >> (kFieldBits * i)) & ((1U << kFieldBits) - 1);
}

// A key's fields, in order.
class FieldStream {
 public:
  // `word` is the first word of the key.
  explicit FieldStream(std::uint64_t word) : word_(word) {}

  unsigned Next() {
    if (next_ == kFieldsOfWord) {
      word_ = NextFieldWord(word_);
      next_ = 0;
    }
    return Field(word_, next_++);
  }

 private:
  std::uint64_t word_;
  int next_ = 0;
};

// The different fields of a stream, in order; behind its end, the lowest positions it has not
// named.
class DistinctFields {
 public:
  explicit DistinctFields(const FieldStream& stream) : stream_(stream) {}

  // Draws the first `fields` fields, and returns how many of them are equal to an earlier one.
  // Comes before Next.
  int SkipEqual(int fields) {
    int equal = 0;
    for (; drawn_ < fields; ++drawn_) equal += Insert(stream_.Next()) ? 0 : 1;
    return equal;
  }

  // May be called kLineBits times.
  unsigned Next() {
    for (; drawn_ < kStreamFields; ++drawn_) {
      const unsigned field = stream_.Next();
      if (Insert(field)) return field;
    }
    unsigned lowest = 0;
    while (!Insert(lowest)) ++lowest;
    return lowest;
  }

 private:
  bool Insert(unsigned position) {
    std::uint64_t& word = taken_[position >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (position & 63);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

  FieldStream stream_;
  int drawn_ = 0;
  std::array<std::uint64_t, kLineBits / 64> taken_{};
};

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

namespace internal {

inline void AppendDraws(CodeWord& word, FilterKind kind, std::uint64_t hash, std::uint64_t bits,
                        int probes) {
  for (int i = 0; i < probes; ++i) {
    if (kind == FilterKind::kStandard) {
      word.Append(Draw(hash, i, bits));
    } else {
      const std::uint64_t last = bits - static_cast<std::uint64_t>(probes - i);
      const std::uint64_t draw = Draw(hash, i, last + 1);
      word.Append(word.Contains(draw) ? last : draw);
    }
  }
}

inline void AppendFields(CodeWord& word, FilterKind kind, std::uint64_t hash,
                         std::uint64_t line_count, int probes) {
  const std::uint64_t begin = LineOf(hash, line_count) * kLineBits;
  FieldStream stream(FirstFieldWord(hash));
  DistinctFields distinct(stream);
  for (int i = 0; i < probes; ++i) {
    word.Append(begin + (kind == FilterKind::kClassic ? distinct.Next() : stream.Next()));
  }
}

}  // namespace internal

// Requires probes in 1 .. kMaxProbes and, by layout,
//   lines = 0   bits >= 1, for the classic kind at least `probes`
//   lines = 1   bits a multiple of kLineBits, at least one line
// The standard code word may name a position twice.
inline CodeWord MakeCodeWord(Layout layout, std::uint64_t hash, std::uint64_t bits, int probes) {
  CodeWord word;
  if (layout.InLines()) {
    internal::AppendFields(word, layout.kind, hash, bits / kLineBits, probes);
  } else {
    internal::AppendDraws(word, layout.kind, hash, bits, probes);
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
