// Queries ExactBloom's filters for RocksDB's tables.
#pragma once

#include <memory>
#include <string_view>

#include "exactbloom/rocksdb_namespace.h"
#include "filter_bits_interface.h"

namespace exactbloom {

// Returns a reader of a block, which lets all keys pass if the block is damaged; null if the block
// is not ExactBloom's. Throws std::bad_alloc.
std::unique_ptr<rocksdb::FilterBitsReader> NewBitsReader(std::string_view block);

}  // namespace exactbloom
