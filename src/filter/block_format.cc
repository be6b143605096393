#include "block_format.h"

#include <algorithm>

#include "kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

void StoreLittleEndian(std::uint64_t value, std::size_t size, unsigned char* bytes) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  }
}

std::uint64_t LoadLittleEndian(const unsigned char* bytes, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

const unsigned char* EndOf(std::string_view block) {
  return reinterpret_cast<const unsigned char*>(block.data()) + block.size();
}

// The kind and n's length, with a flag for the seed.
unsigned LayoutByte(const FilterDescription& description) {
  return static_cast<unsigned>(KeyBytes(description.keys)) |
         static_cast<unsigned>(description.kind) << kKindShift |
         (description.hash_seed != 0 ? kHashSeedFlag : 0U);
}

FilterKind KindOf(unsigned layout_byte) {
  constexpr unsigned kKindMask = 1;
  return static_cast<FilterKind>(layout_byte >> kKindShift & kKindMask);
}

bool HasKnownLines(std::string_view block) {
  constexpr unsigned kLinesMask = 3;
  return (*(EndOf(block) - kLayoutFromEnd) >> kLinesShift & kLinesMask) == 0;
}

bool HasMark(std::string_view block) {
  return block.size() >= kZeroProbesFromEnd &&
         block.substr(block.size() - kMarkFromEnd, kMark.size()) == kMark;
}

bool ChecksumFits(std::string_view block) {
  const std::size_t trailer_bytes = TrailerBytesOf(block);
  return trailer_bytes != 0 &&
         LoadLittleEndian(EndOf(block) - kChecksumFromEnd, sizeof(std::uint32_t)) ==
             ChecksumOf(block, trailer_bytes);
}

// The fields of a trailer whose checksum fits.
FilterDescription DescriptionOf(std::string_view block) {
  const std::size_t trailer_bytes = TrailerBytesOf(block);
  const unsigned char* field = EndOf(block) - trailer_bytes;
  const unsigned layout_byte = *(EndOf(block) - kLayoutFromEnd);
  FilterDescription description;
  if ((layout_byte & kHashSeedFlag) != 0) {
    description.hash_seed = LoadLittleEndian(field, kHashSeedBytes);
    field += kHashSeedBytes;
  }
  description.keys = LoadLittleEndian(field, layout_byte & kKeyBytesMask);
  description.probes = *(EndOf(block) - kProbesFromEnd);
  description.kind = KindOf(layout_byte);
  description.bits = std::uint64_t{8} * (block.size() - trailer_bytes);
  return description;
}

}  // namespace

std::size_t TrailerBytesOf(std::string_view block) {
  if (block.size() <= kLeastTrailerBytes) return 0;
  const unsigned layout_byte = *(EndOf(block) - kLayoutFromEnd);
  const std::size_t key_bytes = layout_byte & kKeyBytesMask;
  if (key_bytes > kMostKeyBytes) return 0;
  const bool has_seed = (layout_byte & kHashSeedFlag) != 0;
  const std::size_t bytes = kLeastTrailerBytes + key_bytes + (has_seed ? kHashSeedBytes : 0);
  return bytes < block.size() ? bytes : 0;
}

// The checksum's seed is the length of the block: truncated or lengthened, it would have another m.
std::uint32_t ChecksumOf(std::string_view block, std::size_t trailer_bytes) {
  const std::string_view fields =
      block.substr(block.size() - trailer_bytes, trailer_bytes - kChecksumFromEnd);
  return static_cast<std::uint32_t>(HashKey(fields, block.size()));
}

void EncodeTrailer(const FilterDescription& description, unsigned char* block) {
  const auto size = static_cast<std::size_t>(BlockBytes(description));
  const std::size_t trailer_bytes = TrailerBytes(description.keys, description.hash_seed);
  unsigned char* const end = block + size;
  unsigned char* field = end - trailer_bytes;
  if (description.hash_seed != 0) {
    StoreLittleEndian(description.hash_seed, kHashSeedBytes, field);
    field += kHashSeedBytes;
  }
  StoreLittleEndian(description.keys, KeyBytes(description.keys), field);
  *(end - kProbesFromEnd) = static_cast<unsigned char>(description.probes);
  *(end - kLayoutFromEnd) = static_cast<unsigned char>(LayoutByte(description));
  *(end - kZeroProbesFromEnd) = 0;
  std::copy(kMark.begin(), kMark.end(), end - kMarkFromEnd);
  *(end - kVersionFromEnd) = kVersion;
  const std::uint32_t checksum =
      ChecksumOf({reinterpret_cast<const char*>(block), size}, trailer_bytes);
  StoreLittleEndian(checksum, sizeof checksum, end - kChecksumFromEnd);
}

DecodedBlock DecodeBlock(std::string_view block) {
  DecodedBlock decoded;
  if (!HasMark(block)) return decoded;
  if (*(EndOf(block) - kZeroProbesFromEnd) != 0) {
    // A stock filter may end in the mark by chance, but its probes are never zero, and ExactBloom's
    // checksum is wrong. If the checksum is right, the block is ExactBloom's and must not be taken
    // for a stock filter.
    if (ChecksumFits(block)) decoded.status = BlockStatus::kDamaged;
    return decoded;
  }
  if (*(EndOf(block) - kVersionFromEnd) != kVersion) {
    decoded.status = BlockStatus::kUnknownVersion;
    return decoded;
  }
  decoded.status = BlockStatus::kDamaged;
  if (!ChecksumFits(block)) return decoded;
  if (!HasKnownLines(block)) {
    decoded.status = BlockStatus::kUnknownVersion;
    return decoded;
  }
  const FilterDescription description = DescriptionOf(block);
  if (!Admits(description.kind, description.bits, description.probes)) return decoded;
  decoded.status = BlockStatus::kUsable;
  decoded.description = description;
  decoded.array = reinterpret_cast<const unsigned char*>(block.data());
  return decoded;
}

}  // namespace exactbloom::filter
