// Tables and their sums: the sorted runs of a column family.
#pragma once

#include <rocksdb/table_properties.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../src/analysis/run_division.h"
#include "exactbloom/rocksdb_namespace.h"
#include "filter_budget.h"

namespace exactbloom::tree {

// What the properties of a table say.
struct TableFacts {
  std::uint64_t keys = 0;  // in the filter, if that is known, or else in the table
  std::uint64_t filter_bytes = 0;

  static TableFacts Of(const rocksdb::TableProperties& properties);
};

// The number in `.../000123.sst`.
std::uint64_t NumberOf(const std::string& path);

// Returns where the filter of a table comes from that no policy of ExactBloom was asked for; empty
// if it may have got none because of the options (optimize_filters_for_hits, another table format).
std::string DescribeOtherPolicy(const rocksdb::TableProperties& properties);

// Of tables that have filters.
struct TableSum {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;

  void Add(const TableSum& other);
  void Subtract(const TableSum& other);  // at most down to zero
};

// By level and size class. Each table of level 0 is a sorted run: those of about the same size
// share a class. A deeper level is one run, of class 0.
using RunSums = std::map<std::pair<int, int>, TableSum>;

// The place in RunSums of a table.
std::pair<int, int> ClassOf(int level, std::uint64_t keys);
TableSum SumIn(const RunSums& sums, const std::pair<int, int>& run);
TableSum SumOf(const RunSums& sums);

inline double Real(std::uint64_t count) { return static_cast<double>(count); }

struct Family {
  std::string database;
  std::string name;
  std::optional<std::uint32_t> id;  // known from the first job on
  std::uint64_t changed = 0;
  RunSums runs;
  TableSum unreported;             // tables that CompactFiles() has written since the snapshot
  std::uint64_t held = 0;          // bytes of filters of live, written and building tables
  FilterBudget* budget = nullptr;  // of the policy of its last table; null: none
  bool ribbon = false;             // whether that policy has Ribbon filters
  double bits_per_key = 10.0;      // of that policy
  // The part of level 0 that moves down without being rewritten, as ascending keys do: a mean in
  // which each compaction of level 0 counts as much as all before it.
  double moved_part = 0.0;
  // Of filters of its flushes: a mean in which each counts as much as all before it; 0: none yet.
  std::uint64_t flushed_keys = 0;
  std::map<int, double> logged;  // bits per key that were logged last, by level
  // The policy of tables that no policy of ExactBloom was asked for; empty once it was logged.
  std::optional<std::string> other_policy;

  TableSum Sum() const;
  // How many keys the next flush has, by recent ones, or else by the tables of level 0; 0: not
  // known.
  std::uint64_t FlushKeys() const;
  // Those of about the same size together, less the tables in `without`.
  std::vector<analysis::EqualRuns> Runs(const RunSums& without = {}) const;
  void Use(FilterBudget* of_policy);
};

}  // namespace exactbloom::tree
