// Which filters a workload's lookups ask, from the tree alone.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "readamp/tree/database.h"
#include "workload.h"

namespace exactbloom::readamp {

struct LookupCounts {
  struct Checks {
    std::uint64_t count = 0;
    std::uint64_t squares = 0;  // sum over the keys of the squared number of their lookups
  };
  // Checks of filter blocks whose table lacks the key, or the prefix.
  std::unordered_map<const TableFilterBlock*, Checks> absent;
  std::uint64_t present = 0;     // checks of filters whose table has it
  std::uint64_t unfiltered = 0;  // searches of tables without filter that lack it
  // In scans, those of the absent checks in files of level 0 without any key from the prefix on,
  // where passing the filter costs no read.
  std::uint64_t beyond = 0;
};

// A lookup of a key asks the sorted runs from the newest on, in each the table whose range holds
// the key, until one has it. A scan of a prefix asks all sorted runs for the first table that may
// hold keys from the prefix on, and all files of level 0.
LookupCounts WalkLookups(const Database& database, const Workload& workload);

}  // namespace exactbloom::readamp
