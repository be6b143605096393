// The filters that a setting would give to the tables of a column family, before any is built.
#pragma once

#include <rocksdb/table.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugin/policy_options.h"
#include "src/model/wasted_reads.h"
#include "tool/database/inspection.h"

namespace exactbloom::tool {

// Some filters together.
struct FilterSums {
  std::uint64_t bytes = 0;
  double wasted_reads = 0.0;      // per lookup of an absent key
  std::uint64_t build_bytes = 0;  // the most memory that building one of them takes

  void Add(const FilterSums& other) {
    bytes += other.bytes;
    wasted_reads += other.wasted_reads;
    build_bytes = std::max(build_bytes, other.build_bytes);
  }
};

// Tables of a level that get similar filters.
struct TableGroup {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;  // of all of them; each has some
  bool bottommost = false;
  double asked = 0.0;  // tables per lookup of an absent key
  FilterSums now;      // their present filters
  // Those of equal size, since small filters are rounded up; all of many keys count as one size.
  // Empty: all are equal.
  std::vector<TableGroup> sizes;
  std::uint64_t most_keys = 0;  // of the largest
  // Of all of them, by which partitions are cut. Without data blocks, each key is taken for one.
  std::uint64_t entries = 0;
  std::uint64_t data_blocks = 0;
  std::uint64_t index_bytes = 0;
  bool without_prefix = false;  // no key has one, and only prefixes go into filters
};

// What a column family takes of a memory budget.
struct BudgetMember {
  std::string column_family;
  PolicyOptions options;                  // of its policy, which names the budget
  std::vector<analysis::EqualRuns> runs;  // that get filters
  std::uint64_t index_bytes = 0;          // of its tables
  std::string unknown_keys;               // as of its tree
};

// The tables of a column family that could be read and have keys: lookups read nothing of one that
// has range deletions only.
struct Tree {
  std::string column_family;
  std::map<int, std::vector<TableGroup>> levels;  // those that have tables, by their numbers
  // From the OPTIONS file, or RocksDB's defaults without one.
  bool optimizes_for_hits = false;
  bool filters_nothing = false;  // as FamilyOptions
  rocksdb::CompactionStyle compaction_style = rocksdb::kCompactionStyleLevel;
  rocksdb::BlockBasedTableOptions table_options;
  // Why it is not known how many keys filters get, as FilterKeys, or the trees that share its
  // memory budget; then no plan holds.
  std::string unknown_keys;
  // All column families of the database whose policies have a memory budget now, which the policies
  // of one name share. Null for none.
  std::shared_ptr<const std::vector<BudgetMember>> budgets;

  std::uint64_t Keys() const;
  std::uint64_t FilteredKeys() const;  // of the tables that get filters by the present options
  std::uint64_t IndexBytes() const;
  std::uint64_t Runs() const;  // each table of level 0 is a sorted run
  FilterSums Now() const;      // of the present filters
  bool FiltersNoKey() const;   // by the present options
};

// The column families that have keys, by their names.
std::vector<Tree> TreesOf(const Inspection& inspection);

// A group of tables with the filters that a policy would give to them.
struct PlannedGroup : TableGroup {
  int level = 0;
  double bits_per_key = 0.0;
  std::string filter = {};  // the kind of most of its filters, or why they have none
  FilterSums then = {};
};

struct TreePlan {
  PolicyOptions options;
  bool ribbonfilter = false;  // RocksDB's policy, with bits_per_key of the options
  std::string policy;         // the text of filter_policy=
  std::vector<PlannedGroup> tables;
  FilterSums filters;  // of all of them
};

// Predicts the filters that the policy with these options, which must be valid, would give to the
// tree if all its tables were written now. Kinds, bytes and rates are those of ExactBloom's
// builder, exact for the mean number of keys of tables with many keys; the rates of RocksDB's
// filters are by models, for the bytes that its builder takes. A memory budget of the policy is
// divided among the tree and all other column families whose policies have it now.
//   ribbonfilter   the policy is RocksDB's, in all levels, with bits_per_key of the options
TreePlan PlanOf(const PolicyOptions& options, const Tree& tree, bool ribbonfilter = false);

// The same for several trees: the groups and the filters of all of them, which share a memory
// budget.
TreePlan PlanOf(const PolicyOptions& options, const std::vector<Tree>& trees,
                bool ribbonfilter = false);

// The same for a policy of RocksDB, whose text is `policy`. Tables of level 0 are taken to come
// from flushes.
TreePlan PlanOf(const rocksdb::FilterPolicy& built_in, const std::string& policy, const Tree& tree);

// The present and the planned filters of each group of tables.
std::string FormatPlan(const TreePlan& plan);
nlohmann::json ToJson(const TreePlan& plan);

}  // namespace exactbloom::tool
