// Whether the fields of a key's line repeat a position, without looking at them one by one.
//
// All pairs of a word's fields meet when the word is compared with itself turned by one field, two
// fields, and so on to half of them; the fields of two words meet in all turns of one of them. An
// exclusive-or of two words has a zero field where two fields are equal, and whether any field of x
// is zero is the classic (x - 1...1) & ~x & 10...0 of strings, with fields in the place of bytes.
#pragma once

#include <array>
#include <cstdint>

#include "code_word.h"

namespace exactbloom::filter {

// Half of the fields of a word, rounded up.
inline constexpr int kSelfTurns = 4;

namespace internal {

constexpr std::size_t Index(int i) { return static_cast<std::size_t>(i); }

constexpr std::uint64_t FirstFields(int count) {
  return (std::uint64_t{1} << (count * kFieldBits)) - 1;
}

// `bits` in each of the first fields.
constexpr std::uint64_t RepeatField(std::uint64_t bits, int fields) {
  std::uint64_t repeated = 0;
  for (int i = 0; i < fields; ++i) repeated |= bits << (i * kFieldBits);
  return repeated;
}

constexpr std::uint64_t TurnFields(std::uint64_t word, int turn, int fields) {
  const int by = turn % fields * kFieldBits;
  const std::uint64_t used = word & FirstFields(fields);
  return ((used << by) | (used >> (fields * kFieldBits - by))) & FirstFields(fields);
}

struct SelfTurns {
  std::array<std::uint64_t, kSelfTurns> fields;
};

template <int kFields>
constexpr std::array<SelfTurns, kFields + 1> UnusedTurns() {
  std::array<SelfTurns, kFields + 1> turns{};
  for (int used = 0; used <= kFields; ++used) {
    const std::uint64_t unused = FirstFields(kFields) & ~FirstFields(used);
    for (int turn = 1; turn <= kSelfTurns; ++turn) {
      turns[Index(used)].fields[Index(turn - 1)] = unused | TurnFields(unused, turn, kFields);
    }
  }
  return turns;
}

template <int kFields>
constexpr std::array<std::uint64_t, kFields + 1> UnusedFields() {
  std::array<std::uint64_t, kFields + 1> unused{};
  for (int used = 0; used <= kFields; ++used) {
    unused[Index(used)] = FirstFields(kFields) & ~FirstFields(used);
  }
  return unused;
}

}  // namespace internal

// The constants for words of kFields fields. Fields that are not in use are set to ones where they
// are compared, and so are never zero.
template <int kFields>
struct EqualFields {
  static constexpr int kBits = kFields * kFieldBits;
  static constexpr std::uint64_t kAllFields = internal::FirstFields(kFields);
  static constexpr std::uint64_t kOnes = internal::RepeatField(1, kFields);
  static constexpr std::uint64_t kHighs = kOnes << (kFieldBits - 1);
  // By the number of fields in use: the others; and for each turn from 1, those and the fields that
  // meet one of them.
  static constexpr auto kUnused = internal::UnusedFields<kFields>();
  static constexpr auto kUnusedTurns = internal::UnusedTurns<kFields>();
};

}  // namespace exactbloom::filter
