// A database's tables, as its MANIFEST lists them.
//
// Opening a database needs its comparators and merge operators, which only its own program has, and
// even a read-only open may write a log into its directory. The MANIFEST needs neither: it is the
// list of all changes of the set of live tables since it was begun, and the file CURRENT names it.
// A running database appends to it, so the result is a recent state.
#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace exactbloom::files {

struct LiveTable {
  std::uint32_t column_family = 0;
  int level = 0;
  // User keys, with their timestamps where the comparator has them. All keys of the table, and of
  // its range deletions, lie within, both ends included.
  std::string smallest;
  std::string largest;
  std::uint64_t largest_sequence = 0;  // of its entries; level 0 is in this order
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

// One change of a database's tables and column families: a record of its MANIFEST.
struct VersionEdit {
  std::uint32_t column_family = 0;
  bool adds_family = false;
  bool drops_family = false;
  std::string family_name;
  std::string comparator;  // empty: not given

  std::vector<std::pair<int, std::uint64_t>> deleted;      // level and number
  std::vector<std::pair<std::uint64_t, LiveTable>> added;  // number, table without its family

  // Edits of a group are valid together or not at all; `group_edits_left` is the number of edits of
  // the group after this one.
  bool in_group = false;
  std::uint64_t group_edits_left = 0;
};

// Reads the bytes of an edit. Fields known not to concern the tables are skipped.
// Errors: Corruption; NotSupported for fields of a later RocksDB that it says not to ignore.
rocksdb::Status DecodeVersionEdit(rocksdb::Slice bytes, VersionEdit* edit);

}  // namespace exactbloom::files
