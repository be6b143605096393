// Asks the filter of an SSTable in the order of the keys: for each key, the block that RocksDB
// would ask. One block is in memory at a time.
#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "plugin/block_description.h"
#include "plugin/files/entry_block.h"
#include "plugin/files/table_file.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::tool {

class FilterWalk {
 public:
  // The walk must not outlive `order`, the table's.
  // Errors: NotSupported for filters of other policies; those of reading.
  static rocksdb::Status Open(const std::string& path, const rocksdb::Comparator& order,
                              std::unique_ptr<FilterWalk>* walk);

  // Whether there is a block that can be asked.
  bool HasBlock() const { return reader_ != nullptr; }

  // Whether the current block is the one for `key`, which must not be before the earlier ones.
  bool IsFor(const rocksdb::Slice& key) const {
    return next_ == blocks_.size() ||
           (next_ > 0 && order_->Compare(key, blocks_[next_ - 1].key) <= 0);
  }

  // Reads the block for such a key.
  rocksdb::Status MoveTo(const rocksdb::Slice& key);

  // The contents of the current block.
  rocksdb::Slice Contents() const { return contents_.Bytes(); }
  rocksdb::FilterBitsReader& Reader() const { return *reader_; }
  const FilterBlockDescription& Description() const { return description_; }

 private:
  FilterWalk();

  std::unique_ptr<const rocksdb::FilterPolicy> policy_;  // also reads built-in blocks
  const rocksdb::Comparator* order_ = nullptr;
  std::unique_ptr<files::TableFile> file_;
  std::vector<files::IndexEntry> blocks_;
  std::size_t next_ = 0;  // the one after the current
  files::BlockContents contents_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
  FilterBlockDescription description_;
};

}  // namespace exactbloom::tool
