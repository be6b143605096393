// Synthetic keys, computed from their number; and the number of such a key.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace exactbloom::readamp {

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit numbers, whose
// multipliers and shifts are undone in turn.
class SplitMix {
 public:
  static constexpr std::uint64_t Mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * kFirst;
    x = (x ^ (x >> 27)) * kSecond;
    return x ^ (x >> 31);
  }
  static constexpr std::uint64_t Undo(std::uint64_t x) {
    x = UndoShift(x, 31) * kSecondInverse;
    x = UndoShift(x, 27) * kFirstInverse;
    return UndoShift(x, 30);
  }

 private:
  static constexpr std::uint64_t kFirst = 0xbf58476d1ce4e5b9;
  static constexpr std::uint64_t kSecond = 0x94d049bb133111eb;
  static constexpr std::uint64_t kFirstInverse = 0x96de1b173f119089;
  static constexpr std::uint64_t kSecondInverse = 0x319642b2d24d8ec3;
  static_assert(kFirst * kFirstInverse == 1 && kSecond * kSecondInverse == 1);

  // The inverse of x ^ (x >> shift), for shifts above 21.
  static constexpr std::uint64_t UndoShift(std::uint64_t x, int shift) {
    return x ^ (x >> shift) ^ (x >> (2 * shift));
  }
};

// Key number `i`, for each seed another one: 16 hexadecimal digits, spread evenly over the key
// space, as hashed identifiers are.
inline std::string SyntheticKey(std::uint64_t i, std::uint64_t seed) {
  return fmt::format("{:016x}", SplitMix::Mix(i + SplitMix::Mix(seed)));
}

// The `i` of such a key; nothing for other strings.
inline std::optional<std::uint64_t> NumberOfSyntheticKey(const std::string& key,
                                                         std::uint64_t seed) {
  constexpr std::size_t kDigits = 16;
  const char* end = key.data() + key.size();
  std::uint64_t number = 0;
  const auto [last, error] = std::from_chars(key.data(), end, number, 16);
  if (key.size() != kDigits || error != std::errc() || last != end) return std::nullopt;
  return SplitMix::Undo(number) - SplitMix::Mix(seed);
}

}  // namespace exactbloom::readamp
