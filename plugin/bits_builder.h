// Builds ExactBloom's filters for RocksDB's tables.
#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>

#include "exactbloom/filter.h"
#include "exactbloom/rocksdb_namespace.h"
#include "filter_bits_interface.h"
#include "live_tree/sized_table.h"
#include "memory_fit.h"

namespace exactbloom {

// Obeys these switches of the table's options:
//
//   optimize_filters_for_memory         sizes are those of `memory_fit`, which outlives it
//   detect_filter_construct_corruption  has to be in the options of `builder`: detect_faults
//   cache_usage_options                 the memory of filter construction is charged
//
// The context's info log may be null, and outlives the builder; nothing else is kept of it.
//
//   table   unless null: says what the filters get instead of `builder`, and counts them
std::unique_ptr<rocksdb::FilterBitsBuilder> NewBitsBuilder(
    FilterBuilder builder, const rocksdb::FilterBuildingContext& context, MemoryFit& memory_fit,
    std::unique_ptr<tree::SizedTable> table = nullptr);

// Returns RocksDB's own builder, or null, as tables with these options need it: from 9.8 on it
// returns no bytes for a partition without keys, which RocksDB's MultiGet takes for a block that is
// out of range. The one returned here returns EmptyBlock().
std::unique_ptr<rocksdb::FilterBitsBuilder> WithoutEmptyBlocks(
    std::unique_ptr<rocksdb::FilterBitsBuilder> builder,
    const rocksdb::BlockBasedTableOptions& table_options);

// A block that every reader, ExactBloom's and stock ones, takes as "always match".
rocksdb::Slice AlwaysMatchBlock();

// A block without keys. ExactBloom's reader denies all keys, stock readers let them pass.
rocksdb::Slice EmptyBlock();

}  // namespace exactbloom
