// The bytes of a filter block. docs/format.md is the normative text.
//
//   [ bit array, m / 8 bytes ][ trailer ]
//
// The trailer has no more fields and bytes than its filter needs, and is read from its end:
//
//   0 or 8   shape, of a Ribbon filter (ribbon/ribbon_format.h)
//   0 or 8   hash seed, unless it is zero
//   0 .. 8   n, in as few bytes as hold it
//   1        k; columns of a Ribbon filter
//   1        layout byte: kKeyBytesMask and the bits behind it
//   4        checksum: low half of XXH3 of all fields before it, seeded with the block's length
//   1        zero: stock readers take it as "always match"
//   3        kMark
//   1        kVersion
//
// Numbers are little-endian. m is not stored: it follows from the block's length.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "exactbloom/filter.h"
#include "kernels/kernel.h"

namespace exactbloom::filter {

// Where fields begin, in bytes before the end of the block.
inline constexpr std::size_t kProbesFromEnd = 11;
inline constexpr std::size_t kLayoutFromEnd = 10;
inline constexpr std::size_t kChecksumFromEnd = 9;
inline constexpr std::size_t kZeroProbesFromEnd = 5;
inline constexpr std::size_t kMarkFromEnd = 4;
inline constexpr std::size_t kVersionFromEnd = 1;

inline constexpr std::string_view kMark = "ExB";
inline constexpr unsigned char kVersion = 1;

// The parts of the layout byte.
inline constexpr unsigned kKeyBytesMask = 0x0F;  // the length of n, 0 .. 8 bytes
inline constexpr unsigned kKindShift = 4;        // 3 bits: BloomKind or kRibbonKind
inline constexpr unsigned kHashSeedFlag = 0x80;  // there is a hash seed

// Kinds from 2 on but this one are reserved.
inline constexpr unsigned kRibbonKind = 6;

inline constexpr std::size_t kShapeBytes = 8;
inline constexpr std::size_t kHashSeedBytes = 8;
inline constexpr std::size_t kMostKeyBytes = 8;
inline constexpr std::size_t kLeastTrailerBytes = 11;
inline constexpr std::size_t kMostTrailerBytes =
    kLeastTrailerBytes + kMostKeyBytes + kHashSeedBytes;

// Bytes of an array of `bits` bits.
constexpr std::uint64_t ArrayBytes(std::uint64_t bits) {
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

// Bits of the whole lines that hold so many bits per key, one line at least; a real number, since
// it may exceed all limits.
inline double LineBits(std::uint64_t keys, double bits_per_key) {
  constexpr double kLineBits = 8.0 * kLineBytes;
  const double lines = std::ceil(static_cast<double>(keys) * bits_per_key / kLineBits);
  return kLineBits * std::max(1.0, lines);
}

// The fewest bytes that hold a number of keys.
constexpr std::size_t KeyBytes(std::uint64_t keys) {
  std::size_t bytes = 0;
  for (; keys != 0; keys >>= 8) ++bytes;
  return bytes;
}

// Bytes of the trailer of a Bloom and of a Ribbon filter of `keys` keys.
constexpr std::size_t TrailerBytes(std::uint64_t keys, std::uint64_t hash_seed) {
  return kLeastTrailerBytes + KeyBytes(keys) + (hash_seed != 0 ? kHashSeedBytes : 0);
}

constexpr std::size_t RibbonTrailerBytes(std::uint64_t keys, std::uint64_t hash_seed) {
  return TrailerBytes(keys, hash_seed) + kShapeBytes;
}

// Bytes of the block of a filter.
constexpr std::uint64_t BlockBytes(const BloomDescription& description) {
  return ArrayBytes(description.bits) + TrailerBytes(description.keys, description.hash_seed);
}

// Writes the lowest `size` bytes of a number.
void StoreLittleEndian(std::uint64_t value, std::size_t size, unsigned char* bytes);

// The fields of a trailer. `shape` is not there unless the kind is kRibbonKind.
struct TrailerFields {
  unsigned kind = 0;
  std::uint64_t shape = 0;
  std::uint64_t hash_seed = 0;
  std::uint64_t keys = 0;
  unsigned probes = 0;
};

// Writes a trailer to the end of the block.
void WriteTrailer(const TrailerFields& fields, unsigned char* block, std::size_t block_bytes);

// A trailer; usable if it is whole and of a kind that there is.
struct DecodedTrailer {
  BlockStatus status = BlockStatus::kForeign;
  TrailerFields fields;
  std::size_t bytes = 0;

  bool IsRibbon() const { return status == BlockStatus::kUsable && fields.kind == kRibbonKind; }
};

// Accepts any bytes and reads nothing outside them.
DecodedTrailer DecodeTrailer(std::string_view block);

// Writes the trailer behind the array in a block of BlockBytes(description).
//   description   m is a whole number of bytes
void EncodeTrailer(const BloomDescription& description, unsigned char* block);

// Returns the length of the trailer by the block's layout byte; 0 if the block is too short for it
// and a byte of array.
std::size_t TrailerBytesOf(std::string_view block);

// Returns the checksum that the trailer of `trailer_bytes` should have.
std::uint32_t ChecksumOf(std::string_view block, std::size_t trailer_bytes);

// A decoded block of a Bloom filter. `array` points into it when the status is kUsable.
struct DecodedBloom {
  BlockStatus status = BlockStatus::kForeign;
  BloomDescription description;
  const unsigned char* array = nullptr;
};

// Returns what the block of this trailer holds: kDamaged if it is no Bloom filter's.
DecodedBloom DecodeBloom(const DecodedTrailer& trailer, std::string_view block);
inline DecodedBloom DecodeBloom(std::string_view block) {
  return DecodeBloom(DecodeTrailer(block), block);
}

}  // namespace exactbloom::filter
