// The number of keys that the filters of two tables share.
//
// Two filters that set the same bits for the same key can be laid over each other: the OR of their
// bits is the filter of the union of their keys, and the ones of both and of the union give the
// number of shared keys (key_count_estimate.h). This requires the same family, layout, number of
// bits, probes and hash seed, and one block each. Filters of different sizes set unrelated bits for
// a key, and Ribbon filters store no bits of a key, so neither can be compared.
#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <optional>
#include <string>

#include "exactbloom/table_filters.h"
#include "exactbloom/theory/key_count_estimate.h"

namespace exactbloom::tool {

// What determines the bits of a filter's keys.
struct FilterGeometry {
  FilterFamily family = FilterFamily::kNone;
  Layout layout;  // for RocksDB's own Bloom filter, the one that describes it
  std::uint64_t bits = 0;
  int probes = 0;
  std::uint64_t hash_seed = 0;
};

// Why filters of these geometries cannot be laid over each other; empty if they can.
std::string WhyNotComparable(const FilterGeometry& first, const FilterGeometry& second);

// The geometry of a table's filter, or nothing with the reason why it cannot be compared.
std::optional<FilterGeometry> GeometryOf(const TableFilter& filter, std::string* why_not);

// Reads the bits of a table's filter, without the trailer.
// Errors: Corruption where the filter has not this geometry; those of reading.
rocksdb::Status ReadFilterArray(const std::string& path, const FilterGeometry& geometry,
                                std::string* array);

// Estimates the shared keys of two filters of one geometry, with an interval for the normal
// quantile `z`. Returns nothing if their union is full.
std::optional<SharedKeysEstimate> EstimateShared(const FilterGeometry& geometry,
                                                 const std::string& first,
                                                 const std::string& second, double z);

}  // namespace exactbloom::tool
