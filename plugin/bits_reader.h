// Queries ExactBloom's filters for RocksDB's tables.
#pragma once

#include <memory>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/rocksdb_namespace.h"
#include "filter_bits_interface.h"

namespace exactbloom {

// Throws std::bad_alloc.
std::unique_ptr<rocksdb::FilterBitsReader> NewBitsReader(const BloomFilterView& view);

}  // namespace exactbloom
