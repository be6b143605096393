// Which filter a table gets, and of how many bits per key: decided here and nowhere else.
//
// RocksDB tells a policy the level, the number of levels that there may be, and whether the table
// goes to the bottommost sorted run of its key range; it tells neither how many levels are in use
// nor their sizes. For exactbloom the shape of the live tree tells the rest
// (plugin/tree/). docs/configuration.md says what each table gets, and why.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../tree/current_table.h"
#include "../tree/filter_budget.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/layout.h"
#include "exactbloom/levels.h"
#include "exactbloom/rocksdb_namespace.h"
#include "tree_division.h"

namespace exactbloom {

enum class PolicyKind : std::uint8_t { kExactBloom, kClassicBloom, kStandardBloom };
inline constexpr std::array<PolicyKind, 3> kPolicyKinds = {
    PolicyKind::kExactBloom, PolicyKind::kClassicBloom, PolicyKind::kStandardBloom};

// A policy: the options of its kind, which filter_policy.h describes; the others have their
// defaults.
struct PolicyOptions {
  // NOLINTNEXTLINE(google-explicit-constructor): a kind is the policy with its defaults
  PolicyOptions(PolicyKind policy = PolicyKind::kClassicBloom) : kind(policy) {}
  explicit PolicyOptions(const ExactBloomOptions& options);
  PolicyOptions(PolicyKind policy, const BloomFilterPolicyOptions& options);

  PolicyKind kind;
  double bits_per_key = 10.0;
  std::uint64_t hash_seed = 0;
  // Of exactbloom.
  double size_ratio = 0.0;
  std::uint64_t memory_budget = 0;
  double memory_percent = 0.0;  // instead: of the memory that the process may use
  std::string budget;           // the name of the budget
  bool ribbon = true;
  // Of the plain policies.
  double fpr = 0.0;
  int lines = 0;
  std::vector<double> level_bits;
};

// The Bloom filters of a policy.
inline Layout LayoutOf(const PolicyOptions& options) {
  const bool standard = options.kind == PolicyKind::kStandardBloom;
  return {standard ? FilterKind::kStandard : FilterKind::kClassic, options.lines};
}

// The plain policy with Bloom filters of a layout.
inline PolicyOptions PlainPolicy(Layout layout) {
  const bool standard = layout.kind == FilterKind::kStandard;
  PolicyOptions options(standard ? PolicyKind::kStandardBloom : PolicyKind::kClassicBloom);
  options.lines = layout.Lines();
  return options;
}

// Whether a policy has Ribbon filters in large runs.
inline bool HasRibbon(const PolicyOptions& options) {
  return options.kind == PolicyKind::kExactBloom && options.ribbon;
}

// Whether such runs get them in tables with these options: not in small partitions.
bool HasRibbon(const PolicyOptions& options, const rocksdb::BlockBasedTableOptions& table_options);

// Whether the live tree decides how many bits per key a table gets, which needs a tree listener.
inline bool FollowsTree(const PolicyOptions& options) {
  return options.kind == PolicyKind::kExactBloom && options.size_ratio == 0.0;
}

inline bool HasBudget(const PolicyOptions& options) {
  return options.memory_budget != 0 || options.memory_percent != 0.0 || !options.budget.empty();
}

// The size that the options give their budget; 0: none.
std::uint64_t BytesOfBudget(const PolicyOptions& options);

// How a policy of these options divides the bits of a live tree.
tree::DivisionOptions DivisionOptionsOf(const PolicyOptions& options, bool ribbon);

// Returns what RocksDB tells a policy of a table that a compaction makes in `level` of a column
// family with leveled compaction; `table_options` must outlive it.
rocksdb::FilterBuildingContext CompactionContext(
    const rocksdb::BlockBasedTableOptions& table_options, int num_levels, int level,
    bool bottommost = false);

struct AllocatedFilter {
  double bits_per_key = 0.0;  // below kMinBitsPerKey: none
  double fpr = 0.0;           // instead, unless zero
  bool ribbon = false;        // RocksDB's Ribbon filter, in as many bytes
  // Whether the live tree should decide and is not known: the filter is that of
  // FilterOfUnknownTree.
  bool is_tree_unknown = false;
  // Unless null: returns the bits per key of a Bloom filter when its keys are known, of the whole
  // table or of a partition; below kMinBitsPerKey: none. May throw std::bad_alloc. The allocation
  // must outlive it.
  std::function<double(std::uint64_t keys)> bits_per_key_of;
};

// May be asked by several threads at once. The functions throw std::bad_alloc when memory is short.
class Allocation {
 public:
  // The options must be valid, and outlive the allocation.
  explicit Allocation(const PolicyOptions& options);

  // The size that the options give rules the budget of their name.
  void SetBudget() const;
  // Call it when a database is opened with the policy.
  void ExpectOpening() const;

  // Returns the filter of the table that this thread begins to make.
  AllocatedFilter FilterOf(const rocksdb::FilterBuildingContext& context) const;

  // Returns the filter of a table whose tree is not known.
  AllocatedFilter FilterOfUnknownTree(const rocksdb::FilterBuildingContext& context) const;

  // With a fixed size_ratio: the filters by the distance from the bottommost level. Computed when
  // first needed, which takes some milliseconds.
  const std::vector<LevelFilter>& FiltersByDistance() const;

 private:
  // A table of a live tree.
  struct LiveTable {
    std::shared_ptr<tree::LsmShape> shape;
    std::string family;
    tree::LsmShape::JobId job = 0;
    int level = 0;
    bool is_planned = false;
    std::uint64_t keys = 0;  // 0: not known yet
    rocksdb::Logger* info_log = nullptr;
    const tree::TreeDivision* division = nullptr;
    bool is_trial = false;
  };

  // An open database with tables of this policy.
  struct FollowedDatabase {
    std::weak_ptr<tree::LsmShape> shape;
    std::map<std::string, std::map<int, double>> logged;  // bits per key, by family and level
    std::uint64_t logged_budget = 0;                      // by FilterBudget::Changes()
    bool is_budget_logged = false;                        // that it is exceeded
  };

  std::optional<LiveTable> LiveTableOf(const rocksdb::FilterBuildingContext& context) const;
  void Follow(const std::shared_ptr<tree::LsmShape>& shape) const;
  // Keeps others from deciding meanwhile, if there is a budget.
  std::unique_lock<std::mutex> LockBudget() const;
  std::optional<tree::TreeView> ViewOf(const LiveTable& table) const;
  double ShareOf(const LiveTable& table, const tree::TreeView& view, double keys) const;
  // For a partition that goes beyond what was promised to its table.
  double ShareOfPartition(const LiveTable& table, double most, double keys) const;
  void LogShare(const LiveTable& table, const tree::TableShare& share) const;
  void LogBudget(const LiveTable& table, FollowedDatabase& database) const;

  const PolicyOptions& options_;
  mutable std::once_flag planned_;
  mutable std::vector<LevelFilter> filters_by_distance_;

  tree::TreeDivision division_;
  tree::TreeDivision division_of_bloom_;  // where partitions are too small for Ribbon filters
  tree::FilterBudget* budget_;            // may be null
  mutable std::atomic<bool> has_set_budget_{false};
  tree::LsmShape::PolicyId id_;
  mutable std::mutex mutex_;
  mutable std::map<const tree::LsmShape*, FollowedDatabase> databases_;
};

}  // namespace exactbloom
