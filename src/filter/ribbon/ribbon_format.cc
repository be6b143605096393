#include "ribbon_format.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "../kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

constexpr int kShardsShift = 32;
constexpr int kBucketsShift = 56;

// Sets the wide blocks, which follow from the columns and their bytes. Returns whether any number
// of them gives these bytes.
bool SetWideBlocks(RibbonShape& shape, std::uint64_t bytes) {
  const std::uint32_t columns = shape.columns;
  shape.wide_blocks = 0;
  if (columns > kMostColumns || shape.ColumnBytes() > bytes) return false;
  FillColumns(shape, bytes);
  return shape.columns == columns && shape.ColumnBytes() == bytes;
}

bool IsValid(RibbonShape& shape, std::uint64_t bytes) {
  if (shape.shards == 0) {
    return shape.slots == 0 && shape.buckets == 0 && bytes == 0 &&
           shape.columns <= kNonePassColumns;
  }
  return shape.buckets != 0 && shape.slots >= kRowBits && shape.slots % kSlotUnit == 0 &&
         SetWideBlocks(shape, bytes);
}

}  // namespace

std::uint64_t RibbonShape::ColumnBytes() const {
  if (slots == 0) return 0;
  const std::uint64_t wide_bytes =
      wide_blocks == 0 ? 0 : LastBytes() + sizeof(std::uint64_t) * (wide_blocks - std::uint64_t{1});
  return std::uint64_t{columns} * (slots / 8) + wide_bytes;
}

void FillColumns(RibbonShape& shape, std::uint64_t bytes) {
  const std::uint64_t column_bytes = shape.slots / 8;
  const std::uint64_t columns = std::min<std::uint64_t>(bytes / column_bytes, kMostColumns);
  const std::uint64_t left = columns == kMostColumns ? 0 : bytes - columns * column_bytes;
  const std::uint32_t last_bytes = shape.LastBytes();
  shape.columns = static_cast<std::uint32_t>(columns);
  shape.wide_blocks =
      left < last_bytes
          ? 0
          : static_cast<std::uint32_t>(1 + (left - last_bytes) / sizeof(std::uint64_t));
}

std::uint64_t RibbonBlockBytes(const RibbonShape& shape, std::uint64_t keys,
                               std::uint64_t hash_seed) {
  const std::uint64_t record_bytes = shape.shards == 0 ? 0 : RecordBytes(shape.buckets);
  return shape.ColumnBytes() + shape.shards * record_bytes + RibbonTrailerBytes(keys, hash_seed);
}

FilterDescription Describe(const RibbonShape& shape, std::uint64_t keys, std::uint64_t hash_seed) {
  FilterDescription description;
  description.kind = FilterKind::kRibbon;
  description.columns = static_cast<int>(shape.columns);
  description.slots = shape.slots;
  description.wide_slots =
      shape.slots - std::min<std::uint64_t>(shape.slots, shape.FirstWideSlot());
  description.shards = shape.shards;
  description.buckets = shape.buckets;
  description.keys = keys;
  description.hash_seed = hash_seed;
  return description;
}

RibbonShape ToShape(const FilterDescription& description) {
  RibbonShape shape;
  shape.slots = static_cast<std::uint32_t>(description.slots);
  shape.shards = description.shards;
  shape.buckets = description.buckets;
  shape.columns = static_cast<std::uint32_t>(description.columns);
  shape.wide_blocks =
      static_cast<std::uint32_t>((description.wide_slots + (kRowBits - 1)) / kRowBits);
  return shape;
}

void EncodeRibbonTrailer(const RibbonShape& shape, std::uint64_t keys, std::uint64_t hash_seed,
                         unsigned char* block) {
  const std::uint64_t encoded = shape.slots | std::uint64_t{shape.shards} << kShardsShift |
                                std::uint64_t{shape.buckets} << kBucketsShift;
  WriteTrailer({kRibbonKind, encoded, hash_seed, keys, shape.columns}, block,
               static_cast<std::size_t>(RibbonBlockBytes(shape, keys, hash_seed)));
}

DecodedRibbon DecodeRibbon(const DecodedTrailer& trailer, std::string_view block) {
  DecodedRibbon decoded;
  decoded.status = trailer.status;
  if (trailer.status != BlockStatus::kUsable) return decoded;
  if (!trailer.IsRibbon()) {
    decoded.status = BlockStatus::kDamaged;
    return decoded;
  }
  const TrailerFields& fields = trailer.fields;
  RibbonShape& shape = decoded.shape;
  shape.slots = static_cast<std::uint32_t>(fields.shape);
  shape.shards = static_cast<std::uint32_t>(fields.shape >> kShardsShift & kMostShards);
  shape.buckets = static_cast<std::uint32_t>(fields.shape >> kBucketsShift);
  shape.columns = fields.probes;
  decoded.keys = fields.keys;
  decoded.hash_seed = fields.hash_seed;
  const std::uint64_t record_bytes =
      shape.shards == 0 ? 0 : shape.shards * std::uint64_t{RecordBytes(shape.buckets)};
  const std::uint64_t other_bytes = record_bytes + trailer.bytes;
  if (other_bytes > block.size() || !IsValid(shape, block.size() - other_bytes)) {
    decoded.status = BlockStatus::kDamaged;
  }
  return decoded;
}

PreparedRibbon PrepareRibbon(const DecodedRibbon& decoded, std::string_view block) {
  const RibbonShape& shape = decoded.shape;
  PreparedRibbon prepared;
  prepared.columns = reinterpret_cast<const unsigned char*>(block.data());
  prepared.records = prepared.columns + shape.ColumnBytes();
  prepared.shards = shape.shards;
  prepared.bucket_inverse = InverseOfBuckets(shape.buckets);
  prepared.buckets = shape.buckets;
  prepared.last_start = shape.slots - kRowBits;
  prepared.places = shape.Places();
  prepared.hash_seed = decoded.hash_seed;
  prepared.low_flip = kLowFlip + decoded.hash_seed;
  prepared.high_flip = kHighFlip - decoded.hash_seed;
  return prepared;
}

double ShareBefore(std::uint64_t slot, std::uint32_t first_slot, const std::int32_t* starts,
                   std::uint32_t buckets) {
  const std::int64_t limit = static_cast<std::int64_t>(slot) - first_slot;
  double buckets_before = 0.0;
  for (std::uint32_t b = 0; b < buckets; ++b) {
    const std::int64_t width = std::int64_t{starts[b + 1]} - starts[b];
    const std::int64_t before = limit - starts[b];
    if (width <= 0 || before >= width) {
      buckets_before += before > 0 ? 1.0 : 0.0;
    } else if (before > 0) {
      buckets_before += static_cast<double>(before) / static_cast<double>(width);
    }
  }
  return buckets_before / buckets;
}

double RateOfColumns(std::uint32_t columns, double narrow_share) {
  return std::ldexp(0.5 + 0.5 * narrow_share, -static_cast<int>(columns));
}

double ExactRate(const RibbonShape& shape, const unsigned char* records) {
  if (shape.shards == 0) return shape.columns == kAllPassColumns ? 1.0 : 0.0;
  const std::uint64_t inverse = InverseOfBuckets(shape.buckets);
  double rates = 0.0;
  std::array<std::int32_t, kMostBuckets + 1> starts;
  for (std::uint32_t shard = 0; shard < shape.shards; ++shard) {
    const unsigned char* record = records + shard * RecordBytes(shape.buckets);
    if (record[kShardSeedOffset] == kPassingShard) {
      rates += 1.0;
      continue;
    }
    const auto* deviations = reinterpret_cast<const signed char*>(record + kDeviationsOffset);
    const std::uint64_t scale =
        EvenScale(LoadWord<std::uint16_t>(record + kStartCountOffset), inverse);
    for (std::uint32_t b = 0; b <= shape.buckets; ++b) {
      starts[b] = EvenStart(b, scale) + kStartStep * deviations[b];
    }
    const double narrow = shape.wide_blocks == 0
                              ? 1.0
                              : ShareBefore(shape.FirstWideSlot(), LoadWord<std::uint32_t>(record),
                                            starts.data(), shape.buckets);
    rates += RateOfColumns(shape.columns, narrow);
  }
  return rates / shape.shards;
}

}  // namespace exactbloom::filter
