// What the programs take from below the public headers: the interfaces between RocksDB and a filter
// policy, which are internal to RocksDB, to build and ask the filters of any policy; and the bytes
// of a block beside its array, by which sizes are told without a block.
#pragma once

#include "plugin/filter_bits_interface.h"  // IWYU pragma: export
#include "src/filter/array_builder.h"
#include "src/filter/block_format.h"

namespace exactbloom::support {

using filter::ArrayBytes;
using filter::LineBits;
using filter::RibbonTrailerBytes;
using filter::TrailerBytes;

// A builder fills larger arrays by way of a scratch copy of its hashes, in bytes.
using filter::kDirectArrayBytes;

}  // namespace exactbloom::support
