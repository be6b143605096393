// The bytes of a Ribbon filter's block. docs/format.md is the normative text.
//
//   [ columns ][ a record for each shard ][ trailer ]
//
// kernels/ribbon_equation.h says what the columns and records hold; block_format.h has the trailer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../block_format.h"
#include "../kernels/ribbon_kernel.h"
#include "exactbloom/filter.h"

namespace exactbloom::filter {

inline constexpr std::uint32_t kMostBuckets = 0xff;
inline constexpr std::uint32_t kMostShards = 0xffffff;

// Slots are a whole number of bytes of a column.
inline constexpr std::uint32_t kSlotUnit = 8;
inline constexpr std::uint32_t kMostSlots = 0xfffffff8;

// The shape of a filter that has no shards and no slots. Its columns say which keys may be
// contained: without a column all, with one none.
inline constexpr std::uint32_t kAllPassColumns = 0;
inline constexpr std::uint32_t kNonePassColumns = 1;

// How a filter's bytes are divided.
struct RibbonShape {
  std::uint32_t slots = 0;
  std::uint32_t shards = 0;
  std::uint32_t buckets = 0;  // of a shard
  std::uint32_t columns = kAllPassColumns;
  std::uint32_t wide_blocks = 0;  // the last blocks of 64 slots that have one column more

  std::uint32_t Blocks() const { return slots / kRowBits + (slots % kRowBits != 0 ? 1 : 0); }
  std::uint32_t FirstWide() const { return Blocks() - wide_blocks; }
  std::uint64_t FirstWideSlot() const { return std::uint64_t{kRowBits} * FirstWide(); }
  // Bytes of a column's last word.
  std::uint32_t LastBytes() const { return (slots - kRowBits * (Blocks() - 1)) / 8; }
  std::uint64_t ColumnBytes() const;
  ColumnPlaces Places() const { return {columns, FirstWide(), Blocks() - 1, LastBytes()}; }
};

// Sets the columns to the most that `bytes` hold, at most kMostColumns.
void FillColumns(RibbonShape& shape, std::uint64_t bytes);

// Bytes of the block of a filter of `keys` keys.
std::uint64_t RibbonBlockBytes(const RibbonShape& shape, std::uint64_t keys,
                               std::uint64_t hash_seed);

FilterDescription Describe(const RibbonShape& shape, std::uint64_t keys, std::uint64_t hash_seed);
// Returns the shape that was described.
RibbonShape ToShape(const FilterDescription& description);

// Writes the trailer to the end of a block of RibbonBlockBytes.
void EncodeRibbonTrailer(const RibbonShape& shape, std::uint64_t keys, std::uint64_t hash_seed,
                         unsigned char* block);

// A decoded block.
struct DecodedRibbon {
  BlockStatus status = BlockStatus::kForeign;
  RibbonShape shape;
  std::uint64_t keys = 0;
  std::uint64_t hash_seed = 0;
};

// Returns what the block of this trailer holds: kDamaged if it is no Ribbon filter's.
DecodedRibbon DecodeRibbon(const DecodedTrailer& trailer, std::string_view block);
inline DecodedRibbon DecodeRibbon(std::string_view block) {
  return DecodeRibbon(DecodeTrailer(block), block);
}

// What queries need of a usable block that has shards.
PreparedRibbon PrepareRibbon(const DecodedRibbon& decoded, std::string_view block);

// Returns the exact share of absent keys that pass a filter of this shape with these records.
double ExactRate(const RibbonShape& shape, const unsigned char* records);

// The share of a shard's absent keys that start before `slot`.
//   starts       the first start of each bucket and the end, `buckets` + 1 of them
//   first_slot   of the shard
double ShareBefore(std::uint64_t slot, std::uint32_t first_slot, const std::int32_t* starts,
                   std::uint32_t buckets);

// The rate of a filter of whose absent keys this share has `columns` columns, and the rest one
// more.
double RateOfColumns(std::uint32_t columns, double narrow_share);

}  // namespace exactbloom::filter
