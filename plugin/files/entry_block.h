// Blocks of sorted entries: the metaindex, the properties, indexes of partitions.
//
//   entry: number of bytes shared with the previous key, number of other key bytes, number of value
//          bytes (three varints); the other key bytes; the value
//   block: entries, restart offsets (32 bits each), number of restarts (32 bits)
//
// An index of partitions with delta-encoded values stores no value lengths. If an entry's key
// shares no bytes, its value is a handle; otherwise it is the difference between the sizes of this
// block and of the previous one, which lies directly before it in the file.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <functional>
#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "footer.h"

namespace exactbloom::files {

// Calls `visit` for each entry, in order; the slices are valid during the call. Accepts any bytes.
// Errors: Corruption if an entry exceeds the block.
rocksdb::Status VisitEntries(
    const rocksdb::Slice& block,
    const std::function<void(const rocksdb::Slice& key, const rocksdb::Slice& value)>& visit);

struct IndexEntry {
  std::string key;
  BlockHandle handle;
};

// Reads the entries of an index, in order.
rocksdb::Status ReadIndex(const rocksdb::Slice& block, bool delta_encoded,
                          std::vector<IndexEntry>* entries);

}  // namespace exactbloom::files
