// A user's own database: its keys, its tree and its options, and what a run takes of them. It is
// only read: nothing, not even an info log, is written into its directory, and it may be in use.
#pragma once

#include <rocksdb/options.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "readamp/readamp_settings.h"

namespace exactbloom::readamp {

// Returns at most `limit` keys of the default column family of the database in `directory`, drawn
// at random (equal seeds give equal keys), unordered. Reads all keys of the family. Throws
// InputError if it cannot be opened or read.
std::vector<std::string> SampleKeys(const std::string& directory, std::uint64_t limit,
                                    std::uint64_t seed);

// Of the default column family.
struct UserDatabase {
  rocksdb::ColumnFamilyOptions options;  // those that this program knows
  std::vector<std::string> other_families;
  std::vector<UserTable> tables;  // in the order in which lookups ask them; a file of level 0 is a
                                  // sorted run, and so is a level below
  // Over all tables.
  std::uint64_t entries = 0;
  std::uint64_t value_bytes = 0;  // where values are in blob files, of references to them
  bool has_blob_files = false;
  std::uint64_t filter_bytes = 0;
  std::uint64_t filter_keys = 0;
  std::string filter_policy;     // a table's, as it names it; empty for none
  std::string prefix_extractor;  // the same
};

// Throws InputError if it cannot be opened or read.
UserDatabase ReadUserDatabase(const std::string& directory);

// What a run takes from the database besides its keys. For the report, one line each.
struct TakenSettings {
  std::vector<std::string> taken;
  std::vector<std::string> not_taken;  // with the reason
};

// Sets the tree, the lengths of values, the table options that matter for reads and, as one more
// policy, the filter policy to those of the database. Options of the command line win.
//   is_given  whether the command line has an option, such as --tree
TakenSettings TakeSettings(const UserDatabase& database,
                           const std::function<bool(const char*)>& is_given,
                           ReadampSettings* settings);

}  // namespace exactbloom::readamp
