#include "block_description.h"

#include <cstddef>

#include "coding.h"
#include "exactbloom/rocksdb_ribbon_rate.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;

// RocksDB's own blocks end in five bytes: one that is the number of probes or marks a later
// implementation, and four whose meaning depends on it.
constexpr std::size_t kTrailerBytes = 5;
constexpr int kNewerBloomMark = 0xFF;
constexpr int kRibbonMark = 0xFE;
constexpr int kMaxLegacyProbes = 0x7F;

constexpr char kDamaged[] = "a damaged ExactBloom block";

int ByteAt(const Slice& block, std::size_t index) {
  return static_cast<unsigned char>(block[index]);
}

FilterBlockDescription Unknown(const char* reason) {
  FilterBlockDescription description;
  description.reason = reason;
  return description;
}

FilterBlockDescription DescribeBloom(FilterFamily family, int probes) {
  FilterBlockDescription description;
  description.family = family;
  description.probes = probes;
  return description;
}

// Implementation, line size and probes, two reserved bytes.
FilterBlockDescription DescribeNewerBloom(const Slice& trailer) {
  // The bits above those of the probes are the size of a line, 0 for 64 bytes.
  constexpr int kMaxProbesOfBloom = 30;
  const int probes = ByteAt(trailer, 2);
  const bool known = ByteAt(trailer, 1) == 0 && probes >= 1 && probes <= kMaxProbesOfBloom &&
                     ByteAt(trailer, 3) == 0 && ByteAt(trailer, 4) == 0;
  return known ? DescribeBloom(FilterFamily::kBloom, probes)
               : Unknown("a Bloom filter of a later RocksDB");
}

// Hash seed, number of blocks of slots in three bytes.
FilterBlockDescription DescribeRibbon(const Slice& trailer) {
  constexpr int kBitsOfByte = 8;
  FilterBlockDescription description;
  const std::uint64_t blocks =
      files::DecodeFixed32(trailer.data() + 1) >> kBitsOfByte;  // without the seed
  if (blocks < 2) return Unknown("a Ribbon filter of a later RocksDB");
  description.family = FilterFamily::kRibbon;
  description.ribbon_slots = blocks * kRocksDBRibbonBlockSlots;
  return description;
}

// The number of lines, each of a power of two bytes.
FilterBlockDescription DescribeLegacyBloom(const Slice& block, const Slice& trailer) {
  const std::uint64_t lines = files::DecodeFixed32(trailer.data() + 1);
  const std::uint64_t bytes = block.size() - kTrailerBytes;
  const std::uint64_t line = lines == 0 ? 0 : bytes / lines;
  if (line * lines != bytes || (line & (line - 1)) != 0) {
    return Unknown("a damaged Bloom filter");
  }
  return DescribeBloom(FilterFamily::kLegacyBloom, ByteAt(trailer, 0));
}

FilterBlockDescription DescribeBuiltIn(const Slice& block) {
  if (block.size() <= kTrailerBytes) {
    FilterBlockDescription empty;
    empty.family = FilterFamily::kEmpty;
    return empty;
  }
  const Slice trailer(block.data() + block.size() - kTrailerBytes, kTrailerBytes);
  const int mark = ByteAt(trailer, 0);
  if (mark == kNewerBloomMark) return DescribeNewerBloom(trailer);
  if (mark == kRibbonMark) return DescribeRibbon(trailer);
  if (mark == 0) return Unknown(kLetsAllPass);
  if (mark > kMaxLegacyProbes) return Unknown("a filter of a later RocksDB");
  return DescribeLegacyBloom(block, trailer);
}

FilterBlockDescription DescribeOurs(const FilterView& view, const Slice& block) {
  FilterBlockDescription description;
  description.format_version = ByteAt(block, block.size() - 1);
  description.ours = view.Description();
  if (view.Kind() == FilterKind::kRibbon) {
    description.family = FilterFamily::kExactRibbon;
    description.ribbon_slots = view.Description().slots;
    description.ribbon_rate = view.FalsePositiveRate();
  } else {
    description.family = FilterFamily::kExactBloom;
    description.probes = view.Description().probes;
  }
  return description;
}

}  // namespace

FilterBlockDescription DescribeFilterBlock(const Slice& block) {
  const FilterView view({block.data(), block.size()});
  switch (view.Status()) {
    case BlockStatus::kForeign:
      return DescribeBuiltIn(block);
    case BlockStatus::kUnknownVersion:
      return Unknown("an ExactBloom block of another version");
    case BlockStatus::kDamaged:
      return Unknown(kDamaged);
    case BlockStatus::kUsable:
      break;
  }
  return DescribeOurs(view, block);
}

}  // namespace exactbloom
