// The filters of a column family's tree: their memory and rates now, and those that a setting would
// have, before any is built.
#pragma once

#include <rocksdb/advanced_options.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check_costs.h"
#include "exactbloom/filter_policy.h"
#include "support/tree/size_ratio_fit.h"
#include "tool/database/inspection.h"

namespace exactbloom::tool {

struct TableOfLevel {
  std::uint64_t keys = 0;  // that go into its filter
  std::uint64_t filter_bytes = 0;
  bool bottommost = false;
  double asked = 1.0;  // by a lookup of an absent key
};

// A level: one sorted run, or as many as it has tables if it is level 0.
struct TreeLevel {
  int level = 0;
  bool deepest = false;              // below level 0, and no level below it has tables
  std::vector<TableOfLevel> tables;  // in the order of a rebuild
  double wasted_reads = 0.0;         // per lookup, 0 .. asked
  // By kind of filter, the share of the level's checks that ask it.
  std::map<CheckedFilter, double> filters;

  // Sums over the tables.
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  double asked = 0.0;

  void Add(const TableOfLevel& table);
  std::uint64_t Runs() const { return level == 0 ? tables.size() : 1; }
};

struct Tree {
  std::string column_family;
  std::vector<TreeLevel> levels;  // those that have tables, level 0 first

  // From the options, or RocksDB's defaults if they are not known.
  int num_levels = 7;
  double size_multiplier = 10.0;  // max_bytes_for_level_multiplier
  rocksdb::CompactionStyle compaction_style = rocksdb::kCompactionStyleLevel;
  bool deepest_unfiltered = false;  // optimize_filters_for_hits
  bool is_followed = false;         // by the present policy
  rocksdb::BlockBasedTableOptions table_options;

  std::uint64_t Keys() const;
  std::uint64_t Runs() const;
  double Asked() const;  // tables by a lookup of an absent key: at most one per run
  std::vector<support::LevelKeys> KeysOfLevels() const;
};

// The column families that have readable tables, by their names.
std::vector<Tree> TreesOf(const Inspection& inspection);

// Returns the tree with the filters that the classic policy of these options, which must be valid,
// would give it. The plugin itself determines which filter a level's tables get. Their rates are
// exact for the level's mean number of keys per filter; for Ribbon filters they are those of
// ribbon_rate.h, at the bytes that RocksDB's builder takes. A policy that follows the tree is taken
// to be set for a rebuild.
Tree WithFiltersOf(const BloomFilterPolicyOptions& options, Tree tree);

// The sums over a tree.
struct TreeFilters {
  std::uint64_t bytes = 0;
  double wasted_reads = 0.0;        // per lookup of an absent key
  double worst_rate = 0.0;          // of a level's tables
  double check_nanoseconds = 0.0;   // processor time of the checks of a lookup
  double lookup_nanoseconds = 0.0;  // time of its wasted reads and its checks
};

TreeFilters FiltersOf(const Tree& tree, const LookupCosts& costs);

}  // namespace exactbloom::tool
