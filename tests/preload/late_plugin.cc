// A library that uses RocksDB for programs that do not link with it, as language bindings and
// plugins do.
#include <rocksdb/c.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>

#include "plugin/rocksdb_compat.h"

// Ends with the call, so RocksDB returns to the program.
extern "C" rocksdb_filterpolicy_t* new_policy(double bits_per_key) {
  return rocksdb_filterpolicy_create_bloom(bits_per_key);
}

extern "C" void delete_policy(rocksdb_filterpolicy_t* policy) {
  rocksdb_filterpolicy_destroy(policy);
}

// Returns null if the database cannot be opened.
extern "C" rocksdb::DB* open_database(const char* directory) {
  rocksdb::Options options;
  options.create_if_missing = true;
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::DB::Open(options, directory, exactbloom::Receive(&db)).PermitUncheckedError();
  return db.release();
}

extern "C" const rocksdb::ColumnFamilyOptions* family_options() {
  static const rocksdb::ColumnFamilyOptions options;
  return &options;
}
