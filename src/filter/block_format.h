// The bytes of a filter block, versions 1 and 2. docs/format.md is the normative text.
//
//   [ pad ][ bit array, ceil(m / 8) bytes ][ trailer ]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "exactbloom/bloom_filter.h"

namespace exactbloom::filter {

// Offsets of the trailer's fields, all little-endian.
inline constexpr std::size_t kBitsOffset = 0;       // 8 bytes: m
inline constexpr std::size_t kKeysOffset = 8;       // 8 bytes: n
inline constexpr std::size_t kHashSeedOffset = 16;  // 8 bytes
inline constexpr std::size_t kKindOffset = 24;      // 1 byte: FilterKind
inline constexpr std::size_t kLinesOffset = 25;     // 1 byte: lines that a key touches, or 0
inline constexpr std::size_t kProbesOffset = 26;    // 1 byte: k
inline constexpr std::size_t kPadOffset = 27;       // 1 byte: bytes before the array
inline constexpr std::size_t kReservedOffset = 28;  // 3 bytes of zero
inline constexpr std::size_t kChecksumOffset = 31;  // 4 bytes: low half of XXH3 of all before it
inline constexpr std::size_t kZeroProbesOffset =
    35;  // 1 byte of zero: stock readers take it as "always match"
inline constexpr std::size_t kMarkOffset = 36;     // 3 bytes: kMark
inline constexpr std::size_t kVersionOffset = 39;  // 1 byte: VersionOf
inline constexpr std::size_t kTrailerBytes = 40;

inline constexpr std::string_view kMark = "ExB";

// The version of a layout's blocks. It determines where a key's bits lie: cache-line blocks of
// version 1, which no release wrote, have them elsewhere.
constexpr unsigned char VersionOf(Layout layout) { return layout.InLines() ? 2 : 1; }
inline constexpr unsigned char kNewestVersion = 2;

inline constexpr unsigned kMaxPad = 63;
inline constexpr std::uint64_t kMaxArrayBytes = kBlockBytesLimit - 1 - kTrailerBytes;

// Bytes of an array of `bits` bits.
constexpr std::uint64_t ArrayBytes(std::uint64_t bits) {
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

// Writes the kTrailerBytes of the trailer that follows an unpadded array.
void EncodeTrailer(const FilterDescription& description, unsigned char* trailer);

// A decoded block. `array` points into it when the status is kUsable.
struct DecodedBlock {
  BlockStatus status = BlockStatus::kForeign;
  FilterDescription description;
  const unsigned char* array = nullptr;
};

// Accepts any bytes and reads nothing outside them.
DecodedBlock DecodeBlock(std::string_view block);

}  // namespace exactbloom::filter
