// The shape of a column family's tree: what its sorted runs hold, and what their filters take and
// let through now.
#pragma once

#include <rocksdb/advanced_options.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "filter_cost.h"
#include "tool/database/inspection.h"

namespace exactbloom::tool {

// A level: one sorted run, or as many as it has tables if it is level 0. A lookup of an absent key
// that lies within their ranges asks each run once.
struct LevelShape {
  int level = 0;
  bool deepest = false;  // below level 0, and no level beneath it has tables
  std::uint64_t runs = 1;
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;  // that go into filters: prefixes count, range deletions do not
  std::uint64_t filter_bytes = 0;
  double wasted_reads = 0.0;  // of a lookup, 0 .. runs
  // Of the run's keys, the share that lies in tables with such a filter.
  std::map<CheckedFilter, double> filters;
};

struct TreeShape {
  std::string column_family;
  std::vector<LevelShape> levels;  // those that have tables, level 0 first

  // Of the options, or RocksDB's defaults where they are not known.
  int num_levels = 7;
  double size_multiplier = 10.0;  // max_bytes_for_level_multiplier
  rocksdb::CompactionStyle compaction_style = rocksdb::kCompactionStyleLevel;
  bool deepest_unfiltered = false;  // optimize_filters_for_hits
  rocksdb::BlockBasedTableOptions table_options;

  std::uint64_t Keys() const;
  std::uint64_t Runs() const;
  std::uint64_t FilterBytes() const;
  double WastedReads() const;
  // Of the filter checks of one lookup.
  double CheckNanoseconds() const;
};

// The column families that have readable tables, by their names.
std::vector<TreeShape> ShapesOf(const Inspection& inspection);

}  // namespace exactbloom::tool
