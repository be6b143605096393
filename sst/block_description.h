// Describes any filter block, ExactBloom's or RocksDB's, from its own bytes.
#pragma once

#include <rocksdb/slice.h>

#include <cstdint>

#include "exactbloom/filter.h"
#include "table_filters.h"

namespace exactbloom {

// The reason for kUnknown of a block that lets every key pass by its form, as ExactBloom writes it
// where memory or a memory budget runs short.
inline constexpr char kLetsAllPass[] = "a block that lets all keys pass";

struct FilterBlockDescription {
  FilterFamily family = FilterFamily::kUnknown;
  const char* reason = "";         // of kUnknown
  int probes = 0;                  // of Bloom filters
  std::uint64_t ribbon_slots = 0;  // of Ribbon filters
  double ribbon_rate = 1.0;        // of kExactRibbon: the exact rate of this block
  int format_version = 0;          // of ours, as `ours`
  FilterDescription ours;          // of kExactRibbon: the keys and the hash seed
};

// Accepts any bytes.
FilterBlockDescription DescribeFilterBlock(const rocksdb::Slice& block);

}  // namespace exactbloom
