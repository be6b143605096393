// Whether the fields of a key's line repeat a position, without looking at them one by one.
//
// All pairs of a word's fields meet when the word is compared with itself rotated by one field, two
// fields, and so on to half of them; the fields of two words meet in all rotations of one of them.
// An exclusive-or of two words has a zero field where two fields are equal, and whether any field
// of x is zero is the classic (x - 1...1) & ~x & 10...0 of strings, with fields in the place of
// bytes.
#pragma once

#include <array>
#include <cstdint>

#include "code_word.h"

namespace exactbloom::filter {

// For words of kFields fields. Functions take how many of them, from the first, are in use.
template <int kFields>
class EqualFields {
 public:
  static bool Any(std::uint64_t word, int used) {
    const std::uint64_t fields = word & kAllFields;
    std::uint64_t zeros = 0;
    for (int turn = 1; turn <= kHalfTurns; ++turn) {
      const std::uint64_t different = fields ^ Rotate(fields, turn);
      zeros |= ZeroFields(different | kUnused[Index(used)][Index(turn - 1)]);
    }
    return zeros != 0;
  }

  // All of `first` and `used` fields of `second`.
  static bool Any(std::uint64_t first, std::uint64_t second, int used) {
    const std::uint64_t a = first & kAllFields;
    const std::uint64_t b = second & kAllFields;
    const std::uint64_t unused = kUnused[Index(used)][kHalfTurns];
    std::uint64_t zeros = 0;
    for (int turn = 0; turn < kFields; ++turn) {
      zeros |= ZeroFields((b ^ Rotate(a, turn)) | unused);
    }
    for (int turn = 1; turn <= kHalfTurns; ++turn) zeros |= ZeroFields(a ^ Rotate(a, turn));
    return zeros != 0 || Any(second, used);
  }

 private:
  static constexpr int kBits = kFields * kFieldBits;
  static constexpr std::uint64_t kAllFields = (std::uint64_t{1} << kBits) - 1;
  static constexpr int kHalfTurns = kFields / 2;
  // For each number of used fields: what to set where a turn compares with an unused field, and
  // last, all unused fields.
  using UnusedFields = std::array<std::array<std::uint64_t, kHalfTurns + 1>, kFields + 1>;

  static constexpr std::size_t Index(int i) { return static_cast<std::size_t>(i); }

  // 1 in each field.
  static constexpr std::uint64_t Ones() {
    std::uint64_t ones = 0;
    for (int i = 0; i < kFields; ++i) ones |= std::uint64_t{1} << (i * kFieldBits);
    return ones;
  }

  static constexpr UnusedFields MakeUnused() {
    UnusedFields unused{};
    constexpr std::uint64_t kField = (std::uint64_t{1} << kFieldBits) - 1;
    for (int used = 0; used <= kFields; ++used) {
      for (int turn = 1; turn <= kHalfTurns; ++turn) {
        for (int i = 0; i < kFields; ++i) {
          // Rotate puts field i - turn in the place of field i.
          const int other = (i - turn + kFields) % kFields;
          if (i >= used || other >= used) {
            unused[Index(used)][Index(turn - 1)] |= kField << (i * kFieldBits);
          }
        }
      }
      for (int i = used; i < kFields; ++i) {
        unused[Index(used)][kHalfTurns] |= kField << (i * kFieldBits);
      }
    }
    return unused;
  }

  static constexpr UnusedFields kUnused = MakeUnused();

  static std::uint64_t Rotate(std::uint64_t fields, int turn) {
    const int by = turn * kFieldBits;
    return ((fields << by) | (fields >> (kBits - by))) & kAllFields;
  }

  // Not zero if and only if a field of `fields` is zero.
  static std::uint64_t ZeroFields(std::uint64_t fields) {
    return (fields - Ones()) & ~fields & (Ones() << (kFieldBits - 1));
  }
};

}  // namespace exactbloom::filter
