// The tables' ranges of keys: which tables may share keys, which lie at the bottom of the tree, and
// which a lookup asks.
//
// RocksDB asks a table's filter for the keys between the table's smallest and largest one, and no
// other. A level that is compacted table by table has gaps, and a table of level 0 need not have
// the range of all keys. So a lookup of an absent key asks fewer sorted runs than there are.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "database_files.h"

namespace exactbloom::tool {

// Whether no key can be in both tables, by their ranges. False where these or their order, other
// than bytewise and reverse bytewise, are not known.
bool HaveDisjointRanges(const TableLocation& first, const TableLocation& second);

// Returns whether a compaction of the table within its level would write to the bottom of the tree,
// by RocksDB's rule: whether no table below it can have keys in its range; in level 0, whether it
// is the last table of all. Where the keys' order is not known, only the tables of the deepest
// level are at the bottom.
std::vector<bool> AreBottommost(const std::vector<const TableLocation*>& tables);

// Returns the places of the tables in the order in which RocksDB lists them: by column family and
// level, in level 0 the newest first, below by their keys if the order of these is known.
std::vector<std::size_t> OrderInTree(const std::vector<const TableLocation*>& tables);

// A table of a database, and the keys in it.
using CountedTable = std::pair<const TableLocation*, std::uint64_t>;

// Returns for each table the chance that a lookup of an absent key of its column family asks it, if
// such keys are drawn as the stored ones are. The keys of a table are taken to be spread evenly
// over its range, as numbers; with the ranges of all tables that tells where the keys lie. Where
// their order is not known, a lookup is taken to ask every table of level 0, and one of each other
// level.
std::vector<double> ChancesAsked(const std::vector<CountedTable>& tables);

// The same for these keys: the share of them that lies in the table's range.
std::vector<double> ChancesAsked(const std::vector<const TableLocation*>& tables,
                                 const std::vector<std::string>& lookups);

}  // namespace exactbloom::tool
