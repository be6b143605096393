// The filter of an SSTable: one block, or partitions with an index.
#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "entry_block.h"
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

// The blocks of a full or partitioned filter, one at a time, in key order; other forms have none. A
// lookup asks the first partition whose user key is not less than the lookup's, or else the last
// partition. The block of a full filter has no key.
class FilterBlockList {
 public:
  // Reads the index of partitions. The file must outlive the object.
  rocksdb::Status Open(const TableFile& file, const FilterLocation& filter);

  bool AtEnd() const { return !full_ && index_.AtEnd(); }

  // Where the next block is. Its key is valid until the next call.
  rocksdb::Status Next(IndexEntry* block);

  // Reads it.
  rocksdb::Status Read(const IndexEntry& block, BlockContents* contents) const {
    return file_->ReadBlock(block.handle, contents, most_bytes_);
  }

 private:
  rocksdb::Status OpenIndex(const FilterLocation& filter,
                            const std::map<std::string, std::string>& properties);

  const TableFile* file_ = nullptr;
  std::optional<BlockHandle> full_;
  BlockContents contents_;  // of the index
  IndexReader index_;
  bool user_keys_ = false;        // in the index
  std::uint64_t unread_ = 0;      // bytes of the file that no partition has
  std::uint64_t most_bytes_ = 0;  // of a block
};

}  // namespace exactbloom::files
