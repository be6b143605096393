// A database's tables, as its MANIFEST lists them.
//
// Opening a database needs its comparators and merge operators, which only its own program has, and
// even a read-only open may write a log into its directory. The MANIFEST, which the file CURRENT
// names, can be read without either: it lists all changes of the set of live tables. A running
// database appends to it, so the result is a recent state.
#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "record_log.h"

namespace exactbloom::files {

struct ManifestTable {
  std::uint32_t column_family = 0;
  int level = 0;
  // User keys, with timestamps if the comparator has them. All keys and range deletions of the
  // table lie between them, both ends included.
  std::string smallest;
  std::string largest;
  std::uint64_t largest_sequence = 0;  // of its entries; level 0 is ordered by it
};

struct LiveColumnFamily {
  std::string name;
  std::string comparator;  // its name
};

struct Manifest {
  std::map<std::uint32_t, LiveColumnFamily> column_families;  // by their ids
  std::map<std::uint64_t, ManifestTable> tables;              // by their numbers
};

// Reads the current MANIFEST of a database. Errors: NotFound if there is no CURRENT; Corruption if
// CURRENT or MANIFEST is damaged; NotSupported if a later RocksDB wrote an unknown field that must
// not be ignored; those of the file system.
//   most_bytes  of an edit, and of a group of edits; more are Corruption
rocksdb::Status ReadManifest(rocksdb::FileSystem& file_system, const std::string& database,
                             Manifest* manifest, std::size_t most_bytes = kMostRecordBytes);

// A record of a MANIFEST: one change of the database's tables and column families.
struct VersionEdit {
  std::uint32_t column_family = 0;
  bool adds_family = false;
  bool drops_family = false;
  std::string family_name;
  std::string comparator;  // empty: not given

  std::vector<std::pair<int, std::uint64_t>> deleted;          // level and number
  std::vector<std::pair<std::uint64_t, ManifestTable>> added;  // number, table without its family

  // Edits of a group are valid together or not at all; `group_edits_left` is the number of edits of
  // the group after this one.
  std::uint64_t group_edits_left = 0;
};

// Decodes an edit. Skips fields that do not concern the tables. Errors: Corruption; NotSupported
// for fields of a later RocksDB that must not be ignored.
rocksdb::Status DecodeVersionEdit(rocksdb::Slice bytes, VersionEdit* edit);

}  // namespace exactbloom::files
