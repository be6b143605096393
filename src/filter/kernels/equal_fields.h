// Whether the fields of a key repeat a position, without looking at them one by one.
//
// All pairs of a word's fields meet when the word is compared with itself turned by one, two and
// three fields; the fields of two words meet in all turns of one of them. An exclusive-or of two
// words has a zero field where two fields are equal, and whether any field of x is zero is the
// classic (x - 1...1) & ~x & 10...0 of strings, with fields in the place of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "code_word.h"

namespace exactbloom::filter {

// The turns in which all pairs of a word's fields meet.
inline constexpr int kSelfTurns = kFieldsOfWord / 2;

namespace internal {

constexpr std::size_t Index(int i) { return static_cast<std::size_t>(i); }

constexpr std::uint64_t FirstFields(int count) {
  return (std::uint64_t{1} << (count * kFieldBits)) - 1;
}

constexpr std::uint64_t RepeatedOne() {
  std::uint64_t repeated = 0;
  for (int i = 0; i < kFieldsOfWord; ++i) repeated |= std::uint64_t{1} << (i * kFieldBits);
  return repeated;
}

constexpr std::uint64_t TurnFields(std::uint64_t word, int turn) {
  const int by = turn * kFieldBits;
  const std::uint64_t used = word & FirstFields(kFieldsOfWord);
  return ((used << by) | (used >> (kFieldsOfWord * kFieldBits - by))) & FirstFields(kFieldsOfWord);
}

}  // namespace internal

inline constexpr std::uint64_t kAllFields = internal::FirstFields(kFieldsOfWord);
inline constexpr std::uint64_t kLowestBits = internal::RepeatedOne();
inline constexpr std::uint64_t kHighestBits = kLowestBits << (kFieldBits - 1);

// By the number of fields in use: the others, and, for each turn from 1, those and the fields that
// meet one of them. These are set to ones where fields are compared, and so are never zero.
struct UnusedFields {
  std::array<std::uint64_t, kFieldsOfWord + 1> fields{};
  std::array<std::array<std::uint64_t, kSelfTurns>, kFieldsOfWord + 1> turned{};

  constexpr UnusedFields() {
    for (int used = 0; used <= kFieldsOfWord; ++used) {
      const std::uint64_t unused = kAllFields & ~internal::FirstFields(used);
      fields[internal::Index(used)] = unused;
      for (int turn = 1; turn <= kSelfTurns; ++turn) {
        turned[internal::Index(used)][internal::Index(turn - 1)] =
            unused | internal::TurnFields(unused, turn);
      }
    }
  }
};
inline constexpr UnusedFields kUnusedFields;

}  // namespace exactbloom::filter
