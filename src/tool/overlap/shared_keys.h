// How many keys of a sorted run have newer versions in others, estimated by asking their filters.
//
// A sample of the older run's keys is put to the filter that a lookup would ask in each newer run.
// A filter with rate f lets a key that is not there pass with probability f, so with p = 1 for a
// key that passes and 0 for another
//
//   x = (p - f) / (1 - f)
//
// has the mean 1 for keys that are in both runs and 0 for others. 1 - (1 - x1) (1 - x2) ..., over
// all newer runs, says the same of a key that any of them has: such a version is obsolete. Keys
// outside of the tables' ranges are in none. So any filters can be asked, of whatever family and
// size. The rates are those given the fill of each filter block; a Ribbon filter's is a model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom::tool {

struct KeysEstimate {
  double keys = 0.0;
  Interval interval = {0.0, 0.0};  // of 99.9% confidence
};

struct RunPair {
  std::size_t newer = 0;  // places among the runs
  std::size_t older = 0;
  KeysEstimate shared;
  double asked = 0.0;  // the share of the sample whose filter could be asked, or need not be
};

struct RunKeys {
  std::string column_family;
  int level = -1;    // -1: a file alone
  std::string file;  // of a table of level 0, and a file alone; empty for other levels
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;   // in all their versions
  std::uint64_t bytes = 0;  // of the tables' files
  std::uint64_t sampled = 0;
  // In newer runs, too. A lower bound if the filters of some could not be asked.
  KeysEstimate obsolete;
  double obsolete_bytes = 0.0;
};

struct SharedKeys {
  std::vector<RunKeys> runs;                       // by column family, the newest first
  std::vector<RunPair> pairs;                      // of one column family
  std::map<std::string, std::uint64_t> not_asked;  // tables by the reason
  std::vector<std::string> unreadable;
};

// Asks for at most so many tables of each run: drawn at random, and with all of their keys up to a
// number. Throws as ReadTables.
SharedKeys FindSharedKeys(const std::vector<std::string>& paths, std::uint64_t tables_per_run);

}  // namespace exactbloom::tool
