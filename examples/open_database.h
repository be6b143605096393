// Opens a database. RocksDB 9.11 and later do that into a unique_ptr, versions before 11.0 into a
// plain pointer: a program needs only the lines for its own RocksDB.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/version.h>

#include <memory>
#include <string>

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
