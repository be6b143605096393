// The filter of an SSTable: one block, or partitions with an index.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <functional>
#include <string>
#include <vector>

#include "entry_block.h"
#include "table_file.h"

namespace exactbloom::files {

enum class FilterForm {
  kNone,
  kFull,         // one block for the whole table
  kPartitioned,  // a block for each partition, and an index of them
  kBlockBased,   // one for every 2 KiB of data; RocksDB no longer reads it since 7.4
};

// Where a table's filter is, and the name of the policies that can read it.
struct FilterLocation {
  FilterForm form = FilterForm::kNone;
  std::string compatibility_name;
  BlockHandle handle;
};

FilterLocation FindFilter(const TableFile& file);

// Reads where the blocks of a filter are, in the order of the keys; none unless it is full or
// partitioned. A lookup asks the first partition whose key, a user key, is not less than its own,
// or the last one. The block of a full filter has no key.
rocksdb::Status ListFilterBlocks(const TableFile& file, const FilterLocation& filter,
                                 std::vector<IndexEntry>* blocks);

// Calls `visit` for the contents of each filter block, in the order of the keys; they are valid
// during the call. Does nothing unless the filter is full or partitioned. Stops at the first error,
// its own or that of `visit`, and returns it.
rocksdb::Status VisitFilterBlocks(
    const TableFile& file, const FilterLocation& filter,
    const std::function<rocksdb::Status(const rocksdb::Slice& block)>& visit);

}  // namespace exactbloom::files
