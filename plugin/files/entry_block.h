// Blocks of sorted entries: the metaindex, the properties, indexes of partitions.
//
//   entry: bytes of the key shared with the entry before, other bytes of the key, bytes of the
//          value (three varints); the key's other bytes; the value
//   block: entries, restart offsets (32 bits each), number of restarts (32 bits)
//
// In an index of partitions with delta-encoded values, an entry has no length of the value. The
// value is a handle if the key shares no bytes, and otherwise only the difference between the
// block's size and that of the one just before it in the file.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <functional>
#include <string>
#include <vector>

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
