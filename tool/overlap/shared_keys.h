// How many keys of each sorted run have newer versions in others.
//
// The keys of each run are put to the filters that a lookup would ask in the newer runs, of
// whatever family and size; a key outside of the tables' ranges is in none. A key that any newer
// run has is obsolete: the next compaction of both drops it. The rates are those of each filter
// block by its own fill (filter_fill.h); those of RocksDB's Ribbon filters are a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "key_share.h"

namespace exactbloom::tool {

struct RunKeys {
  std::string column_family;
  int level = -1;
  std::string file;  // of a table of level 0, which is a run; empty for other levels
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;   // in all their versions
  std::uint64_t bytes = 0;  // of the tables' files
  KeysEstimate obsolete;
};

struct RunPair {
  std::size_t newer = 0;  // places among the runs
  std::size_t older = 0;
  KeysEstimate shared;
  double asked = 0.0;  // the share of the keys whose filter could be asked, or need not be
};

struct SharedKeys {
  std::vector<RunKeys> runs;                       // by column family, the newest first
  std::vector<RunPair> pairs;                      // of one column family
  std::map<std::string, std::uint64_t> not_asked;  // tables whose filter was not, by the reason
  std::map<std::string, std::uint64_t> not_read;   // tables whose keys were not, by the reason
  std::vector<std::string> unreadable;
};

// Reads a database, which may be in use: if it removes tables meanwhile, the ones that replaced
// them are read, in at most five attempts; what is missing then is in not_asked and not_read.
// Throws as ReadTables.
//   column_family   the only one that is read; empty: all
SharedKeys FindSharedKeys(const std::vector<std::string>& paths, const std::string& column_family);

}  // namespace exactbloom::tool
