#include "block_format.h"

#include <algorithm>

#include "kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

std::uint64_t LoadLittleEndian(const unsigned char* bytes, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

const unsigned char* EndOf(std::string_view block) {
  return reinterpret_cast<const unsigned char*>(block.data()) + block.size();
}

// The kind and n's length, with a flag for the seed.
unsigned LayoutByte(const TrailerFields& fields) {
  return static_cast<unsigned>(KeyBytes(fields.keys)) | fields.kind << kKindShift |
         (fields.hash_seed != 0 ? kHashSeedFlag : 0U);
}

unsigned KindOf(unsigned layout_byte) {
  constexpr unsigned kKindMask = 7;
  return layout_byte >> kKindShift & kKindMask;
}

bool IsKnownKind(unsigned kind) {
  return kind <= static_cast<unsigned>(BloomKind::kClassic) || kind == kRibbonKind;
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
TrailerFields ReadFields(std::string_view block) {
  const unsigned char* field = EndOf(block) - TrailerBytesOf(block);
  const unsigned layout_byte = *(EndOf(block) - kLayoutFromEnd);
  TrailerFields fields;
  fields.kind = KindOf(layout_byte);
  if (fields.kind == kRibbonKind) {
    fields.shape = LoadLittleEndian(field, kShapeBytes);
    field += kShapeBytes;
  }
  if ((layout_byte & kHashSeedFlag) != 0) {
    fields.hash_seed = LoadLittleEndian(field, kHashSeedBytes);
    field += kHashSeedBytes;
  }
  fields.keys = LoadLittleEndian(field, layout_byte & kKeyBytesMask);
  fields.probes = *(EndOf(block) - kProbesFromEnd);
  return fields;
}

}  // namespace

void StoreLittleEndian(std::uint64_t value, std::size_t size, unsigned char* bytes) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  }
}

std::size_t TrailerBytesOf(std::string_view block) {
  if (block.size() <= kLeastTrailerBytes) return 0;
  const unsigned layout_byte = *(EndOf(block) - kLayoutFromEnd);
  const std::size_t key_bytes = layout_byte & kKeyBytesMask;
  if (key_bytes > kMostKeyBytes) return 0;
  const bool has_seed = (layout_byte & kHashSeedFlag) != 0;
  const bool has_shape = KindOf(layout_byte) == kRibbonKind;
  const std::size_t bytes = kLeastTrailerBytes + key_bytes + (has_seed ? kHashSeedBytes : 0) +
                            (has_shape ? kShapeBytes : 0);
  // A Ribbon filter may have nothing but a trailer; an array has a byte.
  return bytes + (has_shape ? 0 : 1) <= block.size() ? bytes : 0;
}

// The checksum's seed is the length of the block: truncated or lengthened, it would have another m.
std::uint32_t ChecksumOf(std::string_view block, std::size_t trailer_bytes) {
  const std::string_view fields =
      block.substr(block.size() - trailer_bytes, trailer_bytes - kChecksumFromEnd);
  return static_cast<std::uint32_t>(HashKey(fields, block.size()));
}

void WriteTrailer(const TrailerFields& fields, unsigned char* block, std::size_t block_bytes) {
  const bool has_shape = fields.kind == kRibbonKind;
  const std::size_t trailer_bytes =
      TrailerBytes(fields.keys, fields.hash_seed) + (has_shape ? kShapeBytes : 0);
  unsigned char* const end = block + block_bytes;
  unsigned char* field = end - trailer_bytes;
  if (has_shape) {
    StoreLittleEndian(fields.shape, kShapeBytes, field);
    field += kShapeBytes;
  }
  if (fields.hash_seed != 0) {
    StoreLittleEndian(fields.hash_seed, kHashSeedBytes, field);
    field += kHashSeedBytes;
  }
  StoreLittleEndian(fields.keys, KeyBytes(fields.keys), field);
  *(end - kProbesFromEnd) = static_cast<unsigned char>(fields.probes);
  *(end - kLayoutFromEnd) = static_cast<unsigned char>(LayoutByte(fields));
  *(end - kZeroProbesFromEnd) = 0;
  std::copy(kMark.begin(), kMark.end(), end - kMarkFromEnd);
  *(end - kVersionFromEnd) = kVersion;
  const std::uint32_t checksum =
      ChecksumOf({reinterpret_cast<const char*>(block), block_bytes}, trailer_bytes);
  StoreLittleEndian(checksum, sizeof checksum, end - kChecksumFromEnd);
}

DecodedTrailer DecodeTrailer(std::string_view block) {
  DecodedTrailer trailer;
  if (!HasMark(block)) return trailer;
  if (*(EndOf(block) - kZeroProbesFromEnd) != 0) {
    // A stock filter may end in the mark by chance, but its probes are never zero, and ExactBloom's
    // checksum is wrong. If the checksum is right, the block is ExactBloom's and must not be taken
    // for a stock filter.
    if (ChecksumFits(block)) trailer.status = BlockStatus::kDamaged;
    return trailer;
  }
  if (*(EndOf(block) - kVersionFromEnd) != kVersion) {
    trailer.status = BlockStatus::kUnknownVersion;
    return trailer;
  }
  trailer.status = BlockStatus::kDamaged;
  if (!ChecksumFits(block)) return trailer;
  trailer.bytes = TrailerBytesOf(block);
  trailer.fields = ReadFields(block);
  trailer.status =
      IsKnownKind(trailer.fields.kind) ? BlockStatus::kUsable : BlockStatus::kUnknownVersion;
  return trailer;
}

void EncodeTrailer(const BloomDescription& description, unsigned char* block) {
  const TrailerFields fields{static_cast<unsigned>(description.kind), 0, description.hash_seed,
                             description.keys, static_cast<unsigned>(description.probes)};
  WriteTrailer(fields, block, static_cast<std::size_t>(BlockBytes(description)));
}

DecodedBloom DecodeBloom(const DecodedTrailer& trailer, std::string_view block) {
  DecodedBloom decoded;
  decoded.status = trailer.status;
  if (trailer.status != BlockStatus::kUsable) return decoded;
  const TrailerFields& fields = trailer.fields;
  const BloomDescription description{
      static_cast<BloomKind>(fields.kind), static_cast<int>(fields.probes),
      std::uint64_t{8} * (block.size() - trailer.bytes), fields.keys, fields.hash_seed};
  if (trailer.IsRibbon() || !Admits(description.kind, description.bits, description.probes)) {
    decoded.status = BlockStatus::kDamaged;
    return decoded;
  }
  decoded.description = description;
  decoded.array = reinterpret_cast<const unsigned char*>(block.data());
  return decoded;
}

}  // namespace exactbloom::filter
