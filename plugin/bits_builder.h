// How RocksDB's tables build our filters.
#pragma once

#include <rocksdb/env.h>

#include <memory>

#include "exactbloom/bloom_filter.h"
#include "filter_bits_interface.h"

namespace exactbloom {

// `info_log` may be null, and outlives the builder.
std::unique_ptr<rocksdb::FilterBitsBuilder> NewBitsBuilder(BloomFilterBuilder builder,
                                                           rocksdb::Logger* info_log);

}  // namespace exactbloom
