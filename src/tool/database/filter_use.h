// Whether a database asks a table's filter, by the options that it was last opened with.
#pragma once

#include <string>

#include "database_options.h"
#include "exactbloom/table_filters.h"

namespace exactbloom::tool {

enum class FilterUse { kUsed, kUnused, kUnknown };

struct FilterUseFinding {
  FilterUse use = FilterUse::kUsed;
  std::string reason;  // why not, or why not for prefixes; else empty
};

// Returns whether a lookup of a key (Get, not an iterator) asks the filter of `table`, which must
// have one and be readable.
//   options   its column family's
//   deepest   whether no level of the column family below this one has tables
// Source: how RocksDB 7.8 finds a table's filter and decides to ask it.
FilterUseFinding UseOf(const TableFilter& table, const FamilyOptions& options, bool deepest);

}  // namespace exactbloom::tool
