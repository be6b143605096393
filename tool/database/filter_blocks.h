// The filter of an SSTable, asked in the order of the keys.
#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <memory>
#include <string>

#include "sst/table_filter_blocks.h"
#include "support/filter_interfaces.h"

namespace exactbloom::tool {

// For each key, the block that a lookup asks. One block is in memory at a time, and
// the index of partitions.
class FilterBlocks {
 public:
  // The order must outlive the object.
  //   has_timestamps  whether the keys in the file end in timestamps
  // Errors: NotSupported for filters of other policies; those of reading.
  rocksdb::Status Open(const std::string& path, const rocksdb::Comparator& order,
                       bool has_timestamps);

  // Whether the current block is the one that RocksDB asks for `key`, which must not be before the
  // earlier keys. Always, if the filter has no blocks.
  bool IsFor(const rocksdb::Slice& key) const {
    return blocks_.AtEnd() || (HasBlock() && !IsBehind(key));
  }

  // Reads the block for a key for which the current one is not.
  rocksdb::Status MoveTo(const rocksdb::Slice& key);

  bool HasBlock() const { return reader_ != nullptr; }
  rocksdb::Slice Contents() const { return contents_.Bytes(); }

  // A filter without blocks lets every key pass.
  bool MayMatch(const rocksdb::Slice& key) const { return !HasBlock() || reader_->MayMatch(key); }

 private:
  // Whether `key` is behind the current block. A lookup asks for the latest version of a key, which
  // comes before all others.
  bool IsBehind(const rocksdb::Slice& key) const {
    return order_->CompareWithoutTimestamp(key, /*a_has_ts=*/false, block_.key, has_timestamps_) >
           0;
  }

  std::shared_ptr<const rocksdb::FilterPolicy> policy_;  // also reads built-in blocks
  const rocksdb::Comparator* order_ = nullptr;
  bool has_timestamps_ = false;
  std::unique_ptr<files::TableFile> file_;
  files::FilterBlockList blocks_;
  files::IndexEntry block_;  // the current one
  files::BlockContents contents_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

}  // namespace exactbloom::tool
