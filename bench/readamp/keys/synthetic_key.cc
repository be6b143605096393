#include "synthetic_key.h"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace exactbloom::readamp {
namespace {

constexpr std::size_t kDigits = 16;

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014), and the inverses of its multipliers.
constexpr std::uint64_t kFirst = 0xbf58476d1ce4e5b9;
constexpr std::uint64_t kSecond = 0x94d049bb133111eb;
constexpr std::uint64_t kFirstInverse = 0x96de1b173f119089;
constexpr std::uint64_t kSecondInverse = 0x319642b2d24d8ec3;
constexpr int kFirstShift = 30;
constexpr int kSecondShift = 27;
constexpr int kThirdShift = 31;

static_assert(kFirst * kFirstInverse == 1 && kSecond * kSecondInverse == 1);

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> kFirstShift)) * kFirst;
  x = (x ^ (x >> kSecondShift)) * kSecond;
  return x ^ (x >> kThirdShift);
}

// The inverse of x ^ (x >> shift), for shifts above 21.
std::uint64_t UndoShift(std::uint64_t x, int shift) {
  return x ^ (x >> shift) ^ (x >> (2 * shift));
}

std::uint64_t UndoMix(std::uint64_t x) {
  x = UndoShift(x, kThirdShift) * kSecondInverse;
  x = UndoShift(x, kSecondShift) * kFirstInverse;
  return UndoShift(x, kFirstShift);
}

}  // namespace

std::uint64_t MadeNumber(std::uint64_t i, std::uint64_t seed) { return Mix(i + Mix(seed)); }

std::string MakeKey(std::uint64_t i, std::uint64_t seed) {
  constexpr char kHexadecimal[] = "0123456789abcdef";
  constexpr int kBitsOfDigit = 4;
  constexpr std::uint64_t kMask = 15;
  std::uint64_t number = MadeNumber(i, seed);
  std::string key(kDigits, '0');
  for (std::size_t digit = kDigits; digit > 0; --digit) {
    key[digit - 1] = kHexadecimal[number & kMask];
    number >>= kBitsOfDigit;
  }
  return key;
}

std::optional<std::uint64_t> NumberOfMadeKey(const std::string& key, std::uint64_t seed) {
  constexpr int kBase = 16;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number, kBase);
  if (key.size() != kDigits || error != std::errc() || end != key.data() + key.size()) {
    return std::nullopt;
  }
  return UndoMix(number) - Mix(seed);
}

}  // namespace exactbloom::readamp
