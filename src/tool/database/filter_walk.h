// Asks the filter of an SSTable in the order of its keys.
#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <memory>
#include <string>
#include <vector>

#include "plugin/files/table_filter_blocks.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::tool {

// For each key, the block that RocksDB would ask. One block is in memory at a time.
class FilterWalk {
 public:
  // The order must outlive the walk.
  //   has_timestamps  whether the keys in the file end in timestamps
  // Errors: NotSupported for filters of other policies; those of reading.
  rocksdb::Status Open(const std::string& path, const rocksdb::Comparator& order,
                       bool has_timestamps);

  // Whether the current block is the one for `key`, which must not be before the earlier ones.
  bool IsFor(const rocksdb::Slice& key) const {
    return next_ == blocks_.size() || (next_ > 0 && !IsBehind(key, blocks_[next_ - 1]));
  }

  // Reads the block for such a key.
  rocksdb::Status MoveTo(const rocksdb::Slice& key);

  // The contents of the current block.
  bool HasBlock() const { return reader_ != nullptr; }
  rocksdb::Slice Contents() const { return contents_.Bytes(); }
  bool MayMatch(const rocksdb::Slice& key) const { return reader_->MayMatch(key); }

 private:
  // A lookup asks for the latest version of a key, which comes before all others.
  bool IsBehind(const rocksdb::Slice& key, const files::IndexEntry& block) const {
    return order_->CompareWithoutTimestamp(key, /*a_has_ts=*/false, block.key, has_timestamps_) > 0;
  }

  std::unique_ptr<const rocksdb::FilterPolicy> policy_;  // also reads built-in blocks
  const rocksdb::Comparator* order_ = nullptr;
  bool has_timestamps_ = false;
  std::unique_ptr<files::TableFile> file_;
  std::vector<files::IndexEntry> blocks_;
  std::size_t next_ = 0;  // the one after the current
  files::BlockContents contents_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

}  // namespace exactbloom::tool
