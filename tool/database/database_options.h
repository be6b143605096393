// The options that a database was last opened with, as its OPTIONS file has them.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace exactbloom::tool {

// Whether filter_policy= has a built-in policy's name alone. RocksDB's C interface writes it so,
// without bits per key, and RocksDB does not read it.
bool IsNameAlone(const std::string& filter_policy);

struct FamilyOptions {
  rocksdb::ColumnFamilyOptions options;
  // Part of `options`; null unless the tables are block-based.
  const rocksdb::BlockBasedTableOptions* table = nullptr;

  // The file's text; "nullptr" or empty for none. RocksDB drops a comparator or filter policy that
  // is not registered in this program, and `options` has the default.
  std::string filter_policy;
  // Reads the filters: the policy of `table`, or an equivalent one if IsNameAlone. Null if there is
  // none or it is not registered.
  std::shared_ptr<const rocksdb::FilterPolicy> reader;
  std::string prefix_extractor;
  std::string comparator;

  // Whether the file names a filter policy, known here or not.
  bool NamesFilterPolicy() const { return !filter_policy.empty() && filter_policy != "nullptr"; }
};

struct DatabaseOptions {
  std::string file;  // its path
  rocksdb::DBOptions database;
  std::map<std::string, FamilyOptions> families;  // by their names
};

// Reads the latest OPTIONS file of a database, with ExactBloom's policies registered.
// Errors: NotFound if there is none, those of the file system, and InvalidArgument or NotSupported
// for a file that RocksDB does not understand.
rocksdb::Status LoadDatabaseOptions(const std::string& database, DatabaseOptions* options);

// A line `name=value` below a line `[section]` of an OPTIONS file.
struct OptionsLine {
  std::size_t number = 0;  // from 1
  std::string section;     // with its brackets
  std::string name;
  std::string value;
};

// The lines of such a file without comments, and without blanks around names and values. RocksDB
// itself does not report the lines that it drops.
std::vector<OptionsLine> LinesOfOptions(const std::string& text);

// The text without blanks at its ends.
std::string Trimmed(const std::string& text);

}  // namespace exactbloom::tool
