// The filters that a setting would give to the tables of a column family, before any is built.
#pragma once

#include <rocksdb/table.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugin/allocation/allocation.h"
#include "tool/database/followed_tree.h"
#include "tool/database/inspection.h"

namespace exactbloom::tool {

// The filters of a level or of a tree.
struct FilterSums {
  std::uint64_t bytes = 0;
  double wasted_reads = 0.0;  // per lookup of an absent key
};

// The filters of a tree, by level.
using LevelFilters = std::map<int, FilterSums>;

FilterSums SumOf(const LevelFilters& levels);
TableGroup SumOf(const std::vector<TableGroup>& groups);

// The tables of a column family that could be read.
struct Tree {
  std::string column_family;
  TreeLevels levels;
  LevelFilters filters;  // at present
  // From the OPTIONS file, or RocksDB's defaults without one.
  bool optimizes_for_hits = false;
  rocksdb::BlockBasedTableOptions table_options;

  std::uint64_t Keys() const;
  std::uint64_t Runs() const;   // each table of level 0 is a sorted run
  bool FiltersDeepest() const;  // whether the deepest level is below level 0 and has filters
};

// The column families that have keys, by their names.
std::vector<Tree> TreesOf(const Inspection& inspection);

// Predicts the filters of the classic policy with these options, which must be valid, after a
// rebuild of the tree by `exactbloom rebuild --bits`. The rates are exact for the mean number of
// keys of a group of tables; those of Ribbon filters are by ribbon_rate.h, for the bytes that
// RocksDB's builder takes.
LevelFilters PredictFilters(const PolicyOptions& options, const Tree& tree);

}  // namespace exactbloom::tool
