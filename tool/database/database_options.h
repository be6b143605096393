// The options that a database was last opened with, as its OPTIONS file has them.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/policy_options.h"

namespace exactbloom::tool {

// Whether filter_policy= has a built-in policy's name alone. RocksDB's C interface writes it so,
// without bits per key, and RocksDB does not read it.
bool IsNameAlone(const std::string& filter_policy);

// The title of the section that has a column family's filter policy.
inline constexpr char kBlockBasedTables[] = "TableOptions/BlockBasedTable";

// What to say of a database whose OPTIONS file names ExactBloom's policies.
inline constexpr char kHowToRemove[] =
    R"(Before ExactBloom is removed, set rocksdb_bloom:10, replace the filters, and set
bloomfilter:10: a RocksDB that does not know the policy drops it without an
error, and neither uses nor writes any filter.
See docs/operations.md, Switching off.)";

// The same once rocksdb_bloom has rewritten all filters.
inline constexpr char kCanRemove[] =
    R"(No filter of ExactBloom is left: set bloomfilter:10, and it can be removed.
See docs/operations.md, Switching off.)";

// What to do where no key goes into a filter: see FiltersNothing.
inline constexpr char kSetWholeKeys[] =
    "set whole_key_filtering=true, or a prefix_extractor for seeks by prefix, and compact the "
    "column "
    "family";

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

  // The options of a policy of ExactBloom; nothing for others.
  std::optional<PolicyOptions> Ours() const { return OptionsOf(reader.get()); }
  // Whether the file names a filter policy, known here or not.
  bool NamesFilterPolicy() const { return !filter_policy.empty() && filter_policy != "nullptr"; }
  // Whether it names a prefix extractor, likewise.
  bool HasPrefixes() const { return !prefix_extractor.empty() && prefix_extractor != "nullptr"; }
  // Whether no key goes into a filter: neither whole keys nor prefixes do.
  bool FiltersNothing() const {
    return table != nullptr && !table->whole_key_filtering && !HasPrefixes();
  }
};

struct DatabaseOptions {
  std::string file;  // its path
  rocksdb::DBOptions database;
  std::vector<std::string> listeners;             // by name, known here or not
  std::map<std::string, FamilyOptions> families;  // by their names
};

// Reads the latest OPTIONS file of a database, with ExactBloom's policies registered.
// Errors: NotFound if there is none, those of the file system, and InvalidArgument or NotSupported
// for a file that RocksDB does not understand.
rocksdb::Status LoadDatabaseOptions(const std::string& database, DatabaseOptions* options);

// A line `name=value` of an OPTIONS file.
struct OptionsLine {
  std::size_t number = 0;  // from 1
  std::string name;
  std::string value;
};

// A section of such a file: [CFOptions "default"] has the title CFOptions and the argument default.
struct OptionsSection {
  std::size_t number = 0;  // of the line with the brackets
  std::string text;        // of that line
  std::string title;
  std::string argument;
  std::vector<OptionsLine> lines;

  // The line that RocksDB keeps, which is the first of this name; null if there is none.
  const OptionsLine* Find(const std::string& name) const;
};

// The sections as RocksDB reads them: without comments and escapes, and without blanks around names
// and values. The first section, without a title, has the lines that come before all others.
// RocksDB itself does not report what it drops.
std::vector<OptionsSection> SectionsOfOptions(const std::string& text);

// The names in a value of `listeners`, with or without braces.
std::vector<std::string> NamesOfListeners(const std::string& value);

// The column family and the policy of a line in which ExactBloom logs them; nothing of another one.
std::optional<std::pair<std::string, std::string>> PolicyInLog(const std::string& line);

// The text without blanks at its ends.
std::string Trimmed(const std::string& text);

}  // namespace exactbloom::tool
