// The key ranges of tables: which of them are bottommost, and which a lookup asks.
//
// RocksDB asks a table's filter only for keys between the table's smallest and largest key. A level
// that is compacted table by table has gaps, and a table of level 0 need not span all keys. So a
// lookup of an absent key asks fewer sorted runs than there are.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "database_files.h"

namespace exactbloom::tool {

// Returns which tables are bottommost by RocksDB's rule: no table below can have keys in the
// table's range; in level 0, it is the last table of all. If the comparator is not known, only the
// tables of the deepest level are.
std::vector<bool> AreBottommost(const std::vector<const TableLocation*>& tables);

// Returns the indices of the tables in RocksDB's order: by column family and level, in level 0 the
// newest first, below by keys if the comparator is known.
std::vector<std::size_t> OrderInTree(const std::vector<const TableLocation*>& tables);

// A table of a database, and the keys in it.
using CountedTable = std::pair<const TableLocation*, std::uint64_t>;

// Returns for each table the probability that a lookup of an absent key of its column family asks
// it, if such keys are distributed like the stored keys. A table's keys are assumed to be spread
// evenly over its range, as numbers. If the comparator is not known, a lookup is assumed to ask
// every table of level 0 and one table of each other level.
std::vector<double> ChancesAsked(const std::vector<CountedTable>& tables);

// The same for these keys: the share of them that lies in the table's range.
std::vector<double> ChancesAsked(const std::vector<const TableLocation*>& tables,
                                 const std::vector<std::string>& lookups);

}  // namespace exactbloom::tool
