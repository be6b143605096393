// One change of a database's tables and column families: a record of its MANIFEST.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace exactbloom::files {

struct VersionEdit {
  struct AddedTable {
    std::uint64_t number = 0;
    int level = 0;
    std::uint64_t bytes = 0;
    std::uint32_t path = 0;  // index into the paths of the options
  };

  std::uint32_t column_family = 0;
  bool adds_family = false;
  bool drops_family = false;
  std::string family_name;
  std::string comparator;  // empty: not given

  std::vector<std::pair<int, std::uint64_t>> deleted;  // level and number
  std::vector<AddedTable> added;

  // Edits of a group are valid together or not at all; `group_edits_left` is the number
  // of edits of the group after this one.
  bool in_group = false;
  std::uint64_t group_edits_left = 0;
};

// Reads the bytes of an edit. Fields known not to concern the tables are skipped. Errors:
// Corruption; NotSupported for fields of a later RocksDB that it says not to ignore.
rocksdb::Status DecodeVersionEdit(rocksdb::Slice bytes, VersionEdit* edit);

}  // namespace exactbloom::files
