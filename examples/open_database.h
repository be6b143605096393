// Opens a database. RocksDB 11 does that into a unique_ptr, earlier ones into a plain pointer: a
// program needs only the line for its own RocksDB.
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
