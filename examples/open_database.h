// What the examples share: an end at RocksDB's errors, and opening a database.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/version.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

// Ends the program if RocksDB reports an error, such as bits per key that are out of range.
inline void Require(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << '\n';
  std::exit(2);
}

// RocksDB 9.11 and later open a database into a unique_ptr, versions before 11.0 into a plain
// pointer: a program needs only the lines for its own RocksDB.
inline rocksdb::Status OpenDatabase(const rocksdb::Options& options, const std::string& path,
                                    std::unique_ptr<rocksdb::DB>* db) {
#if ROCKSDB_MAJOR >= 11
  return rocksdb::DB::Open(options, path, db);
#else
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, path, &opened);
  db->reset(opened);
  return status;
#endif
}
