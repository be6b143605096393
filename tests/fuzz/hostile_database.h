// A database of one table in memory, whose bytes can be replaced.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/files/table_filter_blocks.h"

namespace exactbloom::fuzz {

class HostileFiles;

// Where the bytes of a table lie.
struct TableMap {
  std::vector<files::IndexEntry> filter_blocks;  // in the order of the keys
  files::BlockHandle properties;
  std::uint64_t footer_offset = 0;
};

class HostileDatabase {
 public:
  static constexpr int kKeys = 48;

  // The keys of even numbers are in the table.
  static std::string KeyOf(int number);
  static std::string ValueOf(int number);

  // Writes the table, with these options and its own cache. A program keeps a few of these until it
  // ends.
  explicit HostileDatabase(rocksdb::BlockBasedTableOptions table_options);

  // The bytes as they were written.
  const std::string& Bytes() const { return bytes_; }
  const TableMap& Map() const { return map_; }
  rocksdb::ChecksumType Checksum() const { return table_options_.checksum; }
  const rocksdb::FilterPolicy& Policy() const { return *table_options_.filter_policy; }

  // From now on the table's file holds `bytes`, which has the same size, and nothing is cached.
  // Data read when the table was opened remain in memory.
  void Replace(std::string bytes);

  rocksdb::DB& Open() { return *db_; }

  // Opens the database again, so that everything is read again. Null if it is refused.
  std::unique_ptr<rocksdb::DB> OpenAgain() const;

 private:
  void Write();
  void ReadMap(const std::string& path);

  rocksdb::BlockBasedTableOptions table_options_;
  std::shared_ptr<HostileFiles> files_;
  std::unique_ptr<rocksdb::Env> env_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::string bytes_;
  TableMap map_;
};

}  // namespace exactbloom::fuzz
