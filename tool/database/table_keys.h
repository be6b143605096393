// The keys of an SSTable, in their order.
//
// RocksDB's SstFileReader hides deleted keys, but they are in the filter, too: a lookup that misses
// a deletion finds the deleted value. The reader's iterator shows them if it reads all timestamps,
// even in a table without timestamps. Each user key appears once, without its timestamp, whatever
// the number of its versions. Range deletions are in no filter and do not appear.
#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <memory>
#include <string>

namespace exactbloom::tool {

class TableKeys {
 public:
  // Only the calling thread may use the keys. Switches RocksDB's performance counters off in it.
  // This and all other functions throw std::length_error for a block of more than a gigabyte, or of
  // more than the table's properties give all keys and values.
  // Errors: NotSupported if the table's keys are in an order that RocksDB does not know by itself,
  // or this RocksDB is too old for it; those of reading.
  static rocksdb::Status Open(const std::string& path, std::unique_ptr<TableKeys>* keys);

  TableKeys(const TableKeys&) = delete;
  TableKeys& operator=(const TableKeys&) = delete;

  const rocksdb::Comparator& Order() const { return *options_.comparator; }

  // Whether the keys in the file end in timestamps.
  bool HaveTimestamps() const { return have_timestamps_; }

  // As for an iterator: a key is valid until Next(); status() tells the end from an error.
  bool Valid() const { return walk_->Valid(); }
  rocksdb::Slice Key() { return KeyAt(*walk_); }
  void Next();
  rocksdb::Status status() const { return walk_->status(); }

  // Goes to the first key not before `target` and returns it in `key`; false if there is none.
  // Does not change what Key returns.
  bool Find(const rocksdb::Slice& target, rocksdb::Slice* key);

 private:
  TableKeys() = default;
  rocksdb::Status Read(const std::string& path);
  rocksdb::Status SetTimestampForm(bool kept);
  rocksdb::Slice KeyAt(rocksdb::Iterator& iterator);

  rocksdb::Options options_;
  rocksdb::ReadOptions read_options_;
  std::size_t timestamp_bytes_ = 0;  // of each key
  bool have_timestamps_ = false;
  // The range of all timestamps, which read_options_ refers to.
  std::string oldest_;
  std::string newest_;
  rocksdb::Slice from_;
  rocksdb::Slice to_;
  std::unique_ptr<rocksdb::SstFileReader> reader_;
  bool merges_ = false;
  std::string key_;
  std::unique_ptr<rocksdb::Iterator> walk_;
  std::unique_ptr<rocksdb::Iterator> search_;
};

}  // namespace exactbloom::tool
