// Builds ExactBloom's filters for RocksDB's tables.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/rocksdb_namespace.h"
#include "filter_bits_interface.h"
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
//   bits_per_key_of   unless null: bits per key of a whole filter of so many keys, instead of those
//                     of `builder`, which size partitions. May throw std::bad_alloc.
std::unique_ptr<rocksdb::FilterBitsBuilder> NewBitsBuilder(
    BloomFilterBuilder builder, const rocksdb::FilterBuildingContext& context,
    MemoryFit& memory_fit, std::function<double(std::uint64_t keys)> bits_per_key_of = nullptr);

}  // namespace exactbloom
