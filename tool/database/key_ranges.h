// The key ranges of tables: which of them are bottommost, and which a lookup asks.
//
// RocksDB asks a table's filter only for keys between the table's smallest and largest key. A level
// that is compacted table by table has gaps, and a table of level 0 need not span all keys. So a
// lookup of an absent key asks fewer sorted runs than there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "database_files.h"

namespace exactbloom::tool {

struct TablePlace {
  // By RocksDB's rule: no table below can have keys in the table's range; in level 0, it is the
  // last table of all. If the comparator is not known, only the tables of the last sorted run are.
  bool bottommost = false;
  // The probability that a lookup of an absent key of its column family asks the table.
  double asked = 1.0;
};

// Returns the places of the tables in the order of the tree: by column family and level, in level 0
// the newest first, below by their keys if the comparator is known.
std::vector<std::size_t> OrderInTree(const std::vector<const TableLocation*>& tables);

// A table of a database, and the keys in it.
using CountedTable = std::pair<const TableLocation*, std::uint64_t>;

// Returns the place of each table.
//   lookups  absent keys: the share of them that lies in a table's range counts. If empty, absent
//            keys are assumed to be distributed like the stored keys, and a table's keys to be
//            spread evenly over its range, as numbers. If the comparator is not known, a lookup is
//            assumed to ask every table of level 0 and one table of each other level
std::vector<TablePlace> PlacesOf(const std::vector<CountedTable>& tables,
                                 const std::vector<std::string>& lookups);

}  // namespace exactbloom::tool
