#include "block_format.h"

#include <algorithm>

#include "kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

template <typename Number>
void StoreLittleEndian(Number value, unsigned char* bytes) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  }
}

template <typename Number>
Number LoadLittleEndian(const unsigned char* bytes) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<Number>(static_cast<Number>(bytes[i]) << (8 * i));
  }
  return value;
}

// A key's hash and the checksum come from the same function with different seeds.
constexpr std::uint64_t kChecksumSeed = 0;

std::uint32_t Checksum(const unsigned char* trailer) {
  const auto* text = reinterpret_cast<const char*>(trailer);
  return static_cast<std::uint32_t>(HashKey({text, kChecksumOffset}, kChecksumSeed));
}

bool HasMark(const unsigned char* trailer) {
  return std::equal(kMark.begin(), kMark.end(), trailer + kMarkOffset,
                    [](char expected, unsigned char byte) {
                      return static_cast<unsigned char>(expected) == byte;
                    });
}

bool ChecksumFits(const unsigned char* trailer) {
  return LoadLittleEndian<std::uint32_t>(trailer + kChecksumOffset) == Checksum(trailer);
}

Layout LayoutOf(const unsigned char* trailer) {
  return {static_cast<FilterKind>(trailer[kKindOffset]), trailer[kLinesOffset]};
}

bool HasValidFields(const unsigned char* trailer) {
  if (trailer[kKindOffset] > static_cast<unsigned char>(FilterKind::kClassic)) return false;
  if (trailer[kPadOffset] > kMaxPad) return false;
  for (std::size_t i = kReservedOffset; i < kChecksumOffset; ++i) {
    if (trailer[i] != 0) return false;
  }
  return LayoutOf(trailer).Admits(LoadLittleEndian<std::uint64_t>(trailer + kBitsOffset),
                                  trailer[kProbesOffset]);
}

}  // namespace

void EncodeTrailer(const FilterDescription& description, unsigned char* trailer) {
  std::fill_n(trailer, kTrailerBytes, static_cast<unsigned char>(0));
  StoreLittleEndian(description.bits, trailer + kBitsOffset);
  StoreLittleEndian(description.keys, trailer + kKeysOffset);
  StoreLittleEndian(description.hash_seed, trailer + kHashSeedOffset);
  trailer[kKindOffset] = static_cast<unsigned char>(description.layout.kind);
  trailer[kLinesOffset] = static_cast<unsigned char>(description.layout.Lines());
  trailer[kProbesOffset] = static_cast<unsigned char>(description.probes);
  StoreLittleEndian(Checksum(trailer), trailer + kChecksumOffset);
  std::copy(kMark.begin(), kMark.end(), trailer + kMarkOffset);
  trailer[kVersionOffset] = VersionOf(description.layout);
}

DecodedBlock DecodeBlock(std::string_view block) {
  DecodedBlock decoded;
  if (block.size() < kTrailerBytes) return decoded;
  const auto* bytes = reinterpret_cast<const unsigned char*>(block.data());
  const unsigned char* trailer = bytes + (block.size() - kTrailerBytes);
  if (!HasMark(trailer)) return decoded;
  if (trailer[kZeroProbesOffset] != 0) {
    // A stock filter may end in the mark by chance, but its probes are never zero, and ExactBloom's
    // checksum is wrong. If the checksum is right, the block is ExactBloom's and must not be taken
    // for a stock filter.
    if (ChecksumFits(trailer)) decoded.status = BlockStatus::kDamaged;
    return decoded;
  }
  const unsigned char version = trailer[kVersionOffset];
  if (version == 0 || version > kNewestVersion) {
    decoded.status = BlockStatus::kUnknownVersion;
    return decoded;
  }
  if (!ChecksumFits(trailer) || !HasValidFields(trailer)) {
    decoded.status = BlockStatus::kDamaged;
    return decoded;
  }
  if (version != VersionOf(LayoutOf(trailer))) {
    decoded.status = BlockStatus::kUnknownVersion;
    return decoded;
  }
  FilterDescription& description = decoded.description;
  description.layout = LayoutOf(trailer);
  description.probes = trailer[kProbesOffset];
  description.bits = LoadLittleEndian<std::uint64_t>(trailer + kBitsOffset);
  description.keys = LoadLittleEndian<std::uint64_t>(trailer + kKeysOffset);
  description.hash_seed = LoadLittleEndian<std::uint64_t>(trailer + kHashSeedOffset);

  // ArrayBytes is below 2^61 for every m, so the sum cannot overflow.
  const std::uint64_t pad = trailer[kPadOffset];
  if (pad + ArrayBytes(description.bits) + kTrailerBytes != block.size()) {
    decoded.status = BlockStatus::kWrongSize;
    return decoded;
  }
  decoded.array = bytes + pad;
  decoded.status = BlockStatus::kUsable;
  return decoded;
}

}  // namespace exactbloom::filter
