// A database's tables, as its MANIFEST lists them.
//
// Opening a database needs its comparators and merge operators, which only its own program has, and
// even a read-only open may write a log into its directory. The MANIFEST needs neither: it is the
// list of all changes of the set of live tables since it was begun, and the file CURRENT names it.
// A running database appends to it, so the result is a recent state.
#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <map>
#include <string>

namespace exactbloom::files {

struct LiveTable {
  std::uint32_t column_family = 0;
  int level = 0;
  std::uint64_t bytes = 0;
  std::uint32_t path = 0;  // 0: the database's own directory, or the first of its paths
};

struct LiveColumnFamily {
  std::string name;
  std::string comparator;  // its name
};

struct Manifest {
  std::map<std::uint32_t, LiveColumnFamily> column_families;  // by their ids
  std::map<std::uint64_t, LiveTable> tables;                  // by their numbers
};

// Reads the current MANIFEST of a database, and nothing else; writes nothing.
// Errors: NotFound if there is no CURRENT; Corruption if CURRENT or MANIFEST is damaged;
// NotSupported if a later RocksDB wrote something unknown that must not be ignored; those of the
// file system.
rocksdb::Status ReadManifest(rocksdb::FileSystem& file_system, const std::string& database,
                             Manifest* manifest);

}  // namespace exactbloom::files
