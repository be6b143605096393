// The options that a database was last opened with, as its OPTIONS file has them.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <map>
#include <memory>
#include <string>

namespace exactbloom::tool {

// Whether filter_policy= has this text for a built-in policy that RocksDB's C interface made: it
// writes the name alone, without bits per key, and RocksDB does not read that.
bool IsNameAlone(const std::string& filter_policy);

struct FamilyOptions {
  rocksdb::ColumnFamilyOptions options;
  // Part of `options`; null unless the tables are block-based.
  const rocksdb::BlockBasedTableOptions* table = nullptr;

  // The file's text; "nullptr" or empty for none. RocksDB drops what this program does not know,
  // such as a comparator or filter policy of the database's own program, so `options` has the
  // default of it.
  std::string filter_policy;
  // What reads the filters: the policy of `table`, or one like it where IsNameAlone. Null if there
  // is none or it is not known.
  std::shared_ptr<const rocksdb::FilterPolicy> reader;
  std::string prefix_extractor;
  std::string comparator;
  // As written: RocksDB reads it as false without the index type that it needs.
  bool partition_filters = false;

  // Whether the file names a filter policy, known here or not.
  bool NamesFilterPolicy() const { return !filter_policy.empty() && filter_policy != "nullptr"; }
};

struct DatabaseOptions {
  std::string file;  // its path
  rocksdb::DBOptions database;
  std::map<std::string, FamilyOptions> families;  // by their names
};

// Reads the latest OPTIONS file of a database, with ExactBloom's policies known; writes nothing.
// Errors: NotFound if there is none, those of the file system, and InvalidArgument or NotSupported
// for a file that RocksDB does not understand.
rocksdb::Status LoadDatabaseOptions(const std::string& database, DatabaseOptions* options);

}  // namespace exactbloom::tool
