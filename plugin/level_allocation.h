// The filter that a table gets, by its place in the tree.
//
// RocksDB tells a policy the level, the number of levels that there may be, and whether the table
// goes to the bottommost sorted run of its key range; it tells neither how many levels are in use
// nor their sizes. docs/configuration.md says what each table gets, and why.
#pragma once

#include <rocksdb/filter_policy.h>

#include <mutex>
#include <vector>

#include "exactbloom/layout.h"
#include "policy_options.h"

namespace exactbloom {

// Returns what RocksDB tells a policy of a table that a compaction makes in `level` of a column
// family with leveled compaction; `table_options` must outlive it.
rocksdb::FilterBuildingContext CompactionContext(
    const rocksdb::BlockBasedTableOptions& table_options, int num_levels, int level,
    bool bottommost = false);

struct AllocatedFilter {
  double bits_per_key = 0.0;  // below kMinBitsPerKey: none
  double fpr = 0.0;           // instead, unless zero
  bool ribbon = false;        // RocksDB's Ribbon filter, in as many bytes
};

// May be asked by several threads at once. The functions throw std::bad_alloc when memory is short.
class LevelAllocation {
 public:
  // The options must be valid, and outlive the allocation.
  LevelAllocation(Layout layout, const PolicyOptions& options)
      : layout_(layout), options_(options) {}

  AllocatedFilter FilterOf(const rocksdb::FilterBuildingContext& context) const;

  // With size_ratio: bits per key by the distance from the bottommost level (GeometricLevelBits).
  // Computed when first needed, which takes some milliseconds.
  const std::vector<double>& BitsByDistance() const;

 private:
  double BitsPerKeyOf(const rocksdb::FilterBuildingContext& context) const;

  Layout layout_;
  const PolicyOptions& options_;
  mutable std::once_flag planned_;
  mutable std::vector<double> bits_by_distance_;
};

}  // namespace exactbloom
