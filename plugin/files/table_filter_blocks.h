// The filter of an SSTable: one block, or partitions with an index.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <functional>
#include <string>
#include <vector>

#include "entry_block.h"
#include "exactbloom/rocksdb_namespace.h"
#include "table_file.h"

namespace exactbloom::files {

enum class FilterForm {
  kNone,
  kFull,         // one block for the whole table
  kPartitioned,  // a block for each partition, and an index of them
  kBlockBased,   // one for every 2 KiB of data; RocksDB from 7.4 on does not read it
};

// Where a table's filter is, and the CompatibilityName() of the policies that can read it.
struct FilterLocation {
  FilterForm form = FilterForm::kNone;
  std::string compatibility_name;
  BlockHandle handle;
};

FilterLocation FindFilter(const TableFile& file);

// Lists the blocks of a full or partitioned filter in key order; other forms have none. A lookup
// asks the first partition whose user key is not less than the lookup's, or else the last
// partition. The block of a full filter has no key.
rocksdb::Status ListFilterBlocks(const TableFile& file, const FilterLocation& filter,
                                 std::vector<IndexEntry>* blocks);

// Calls `visit` for each block of ListFilterBlocks; its bytes are valid during the call. Stops at
// the first error, also of `visit`, and returns it.
rocksdb::Status VisitFilterBlocks(
    const TableFile& file, const FilterLocation& filter,
    const std::function<rocksdb::Status(const rocksdb::Slice& block)>& visit);

}  // namespace exactbloom::files
