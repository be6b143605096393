// Turns RocksDB's errors into InputError, and opens databases.
#pragma once

#include <fmt/format.h>
#include <rocksdb/db.h>

#include <memory>
#include <string>
#include <vector>

#include "plugin/rocksdb_compat.h"
#include "support/errors.h"

namespace exactbloom::readamp {

// Throws InputError, beginning with `what`, for a status that is not OK.
inline void CheckStatus(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) throw support::InputError(fmt::format("{}: {}", what, status.ToString()));
}

// Opens the default column family of a database to read it.
inline rocksdb::Status OpenReadOnly(const rocksdb::Options& options, const std::string& path,
                                    std::unique_ptr<rocksdb::DB>* db) {
  // The family is opened by its name: otherwise RocksDB opens a database of one sorted run in a
  // special way, which asks the last table's filter also for keys beyond the table.
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::OpenForReadOnly(
      options, path, {{rocksdb::kDefaultColumnFamilyName, options}}, &handles, Receive(db));
  for (auto* handle : handles) (*db)->DestroyColumnFamilyHandle(handle);
  return status;
}

}  // namespace exactbloom::readamp
