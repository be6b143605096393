// How many keys of each sorted run have newer versions in other runs.
//
// A key that a newer run has, too, is obsolete: the next compaction of both drops it. The runs are
// read from the newest to the oldest, and the hashes of their keys kept. Of a column family with
// more than kMostKeys keys only those keys count whose hash is a multiple of some s. A key is in
// this sample of all runs or of none, so of N obsolete keys a binomial number of mean N / s is in
// it, and s times that number is an estimate of N.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom::tool {

// Their hashes take some 80 MB, and the interval of an estimate is within 1% where a tenth of the
// keys is obsolete.
inline constexpr std::uint64_t kMostKeys = 2'000'000;

struct KeysEstimate {
  double keys = 0.0;
  Interval interval = {0.0, 0.0};  // of 99.9% confidence; both ends are `keys` if all were counted
};

// Returns the estimate of the keys of which `count` are in a sample of one in `step`.
//   unread   keys that could not be compared: the upper end counts them
//   keys     of the run, the most
KeysEstimate EstimateOf(std::uint64_t count, std::uint64_t step, std::uint64_t unread,
                        std::uint64_t keys);

struct RunKeys {
  std::string column_family;
  int level = -1;
  std::string file;  // of a table of level 0, which is a run; empty for other levels
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;   // in all their versions
  std::uint64_t bytes = 0;  // of the tables' files
  KeysEstimate obsolete;
};

struct UnreadableTable {
  std::string path;
  std::string column_family;
  int level = -1;
  std::string reason;
};

struct ObsoleteKeys {
  std::vector<RunKeys> runs;                      // by column family, the newest first
  std::map<std::string, std::uint64_t> not_read;  // tables whose keys were not, by the reason
  std::vector<UnreadableTable> unreadable;        // those of them that are damaged or missing
};

// Reads a database, which may be in use: if it removes tables meanwhile, the ones that replaced
// them are read, in at most five attempts; what is missing then is in not_read. Throws as
// ReadTables.
//   column_family   the only one that is read; empty: all
ObsoleteKeys FindObsoleteKeys(const std::vector<std::string>& paths,
                              const std::string& column_family);

}  // namespace exactbloom::tool
