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

#include "footer.h"

namespace exactbloom::files {

// Calls `visit` for each entry, in order; the slices are valid during the call. Accepts any bytes.
// Errors: Corruption if an entry exceeds the block, or if keys share more than a megabyte with the
// keys before them. So whoever keeps all keys needs no more memory than the block takes, and that.
rocksdb::Status VisitEntries(
    const rocksdb::Slice& block,
    const std::function<void(const rocksdb::Slice& key, const rocksdb::Slice& value)>& visit);

struct IndexEntry {
  rocksdb::Slice key;
  BlockHandle handle;
};

// The entries of an index, one at a time: all keys together may take far more memory than the
// block.
class IndexReader {
 public:
  // The block must outlive the reading.
  rocksdb::Status Open(const rocksdb::Slice& block, bool delta_encoded);

  bool AtEnd() const { return rest_.empty(); }

  // Reads the next entry, whose key is valid until the next call.
  rocksdb::Status Next(IndexEntry* entry);

 private:
  rocksdb::Slice rest_;
  bool delta_encoded_ = false;
  std::string key_;
  BlockHandle handle_;
};

}  // namespace exactbloom::files
