#include "allocation.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <utility>

#include "process_memory.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBuildingContext;
using rocksdb::TableFileCreationReason;

bool IsBottommost(const FilterBuildingContext& context) {
  return context.is_bottommost ||
         (context.num_levels > 1 && context.level_at_creation == context.num_levels - 1);
}

// How many levels above the bottommost one the table is, if its level says so: not for
// SstFileWriter and repairs, where the level is unknown, nor for universal and FIFO compaction,
// where levels say little or nothing about sizes.
std::optional<std::size_t> DistanceFromBottom(const FilterBuildingContext& context) {
  const bool known = context.level_at_creation >= 0 && context.num_levels > 1 &&
                     context.reason != TableFileCreationReason::kMisc &&
                     context.compaction_style == rocksdb::kCompactionStyleLevel;
  if (!known) return std::nullopt;
  if (IsBottommost(context)) return 0;
  return static_cast<std::size_t>(context.num_levels - 1 - context.level_at_creation);
}

}  // namespace

PolicyOptions::PolicyOptions(const ExactBloomOptions& options)
    : kind(PolicyKind::kExactBloom),
      bits_per_key(options.bits_per_key),
      hash_seed(options.hash_seed),
      size_ratio(options.size_ratio),
      memory_budget(options.memory_budget),
      budget(options.budget),
      ribbon(options.ribbon) {}

PolicyOptions::PolicyOptions(PolicyKind policy, const BloomFilterPolicyOptions& options)
    : kind(policy),
      bits_per_key(options.bits_per_key),
      hash_seed(options.hash_seed),
      fpr(options.fpr),
      lines(options.lines),
      level_bits(options.level_bits) {}

// The slots of a Ribbon filter come in blocks of 128, and RocksDB makes a Bloom filter where that
// is smaller. Measured at 7 to 16 bits per key: with partitions of this size a Ribbon filter takes
// at most 1.08 bits per key to halve the rate, where a classic Bloom filter takes 1.46; with half
// of it, it is a Bloom filter at 16 bits, with an eighth at any number.
bool HasRibbon(const PolicyOptions& options, const rocksdb::BlockBasedTableOptions& table_options) {
  constexpr std::uint64_t kLeastPartition = 1024;
  return HasRibbon(options) &&
         (!table_options.partition_filters || table_options.metadata_block_size >= kLeastPartition);
}

std::uint64_t BytesOfBudget(const PolicyOptions& options) {
  if (options.memory_percent == 0.0) return options.memory_budget;
  return static_cast<std::uint64_t>(options.memory_percent / 100.0 *
                                    static_cast<double>(MemoryOfProcess()));
}

tree::DivisionOptions DivisionOptionsOf(const PolicyOptions& options, bool ribbon) {
  return {LayoutOf(options), options.bits_per_key, ribbon};
}

FilterBuildingContext CompactionContext(const rocksdb::BlockBasedTableOptions& table_options,
                                        int num_levels, int level, bool bottommost) {
  FilterBuildingContext context(table_options);
  context.num_levels = num_levels;
  context.level_at_creation = level;
  context.is_bottommost = bottommost;
  context.reason = TableFileCreationReason::kCompaction;
  return context;
}

Allocation::Allocation(const PolicyOptions& options)
    : options_(options),
      division_(DivisionOptionsOf(options, HasRibbon(options))),
      division_of_bloom_(DivisionOptionsOf(options, false)),
      budget_(HasBudget(options) ? &tree::FilterBudget::Named(options.budget) : nullptr),
      id_(budget_ != nullptr ? budget_->Id() : tree::NewPolicyId()) {}

void Allocation::SetBudget() const {
  has_set_budget_ = true;
  const std::uint64_t bytes = BytesOfBudget(options_);
  if (budget_ != nullptr && bytes != 0) budget_->SetBytes(bytes);
}

void Allocation::ExpectOpening() const {
  if (budget_ != nullptr) tree::ExpectOpening(*budget_);
}

AllocatedFilter Allocation::FilterOf(const FilterBuildingContext& context) const {
  AllocatedFilter filter = FilterOfUnknownTree(context);
  if (!FollowsTree(options_)) return filter;
  const std::optional<LiveTable> table = LiveTableOf(context);
  const std::unique_lock<std::mutex> lock = LockBudget();
  const std::optional<tree::TreeView> view = table ? ViewOf(*table) : std::nullopt;
  filter.is_tree_unknown = !view;
  if (!view) return filter;
  const auto known_keys = static_cast<double>(table->keys);
  filter.ribbon = table->division->WantsRibbon(*view, known_keys);
  // The number of keys is known in the end, which is too late for partitions, and for RocksDB's
  // Ribbon builder. A partition's keys are not the table's.
  if (filter.ribbon || context.table_options.partition_filters) {
    // RibbonFilters keeps one of RocksDB's policies per number, so there must not be too many.
    constexpr double kStepsPerBit = 64.0;
    filter.bits_per_key =
        std::floor(ShareOf(*table, *view, known_keys) * kStepsPerBit) / kStepsPerBit;
    if (budget_ != nullptr && !filter.ribbon && (view->is_flush || view->joins_a_run)) {
      filter.bits_per_key_of = [this, table = *table, most = filter.bits_per_key,
                                promised = view->typical_flush_keys](std::uint64_t keys) mutable {
        promised -= static_cast<double>(keys);
        return promised >= 0.0 ? most : ShareOfPartition(table, most, static_cast<double>(keys));
      };
    }
  } else {
    filter.bits_per_key_of = [this, table = *table](std::uint64_t keys) {
      const std::unique_lock<std::mutex> deciding = LockBudget();
      const std::optional<tree::TreeView> now = ViewOf(table);
      if (!now) return options_.bits_per_key;
      return ShareOf(table, *now, static_cast<double>(table.keys != 0 ? table.keys : keys));
    };
  }
  return filter;
}

AllocatedFilter Allocation::FilterOfUnknownTree(const FilterBuildingContext& context) const {
  const auto at_most_last = [](const auto& filters, std::size_t index) {
    return filters[std::min(index, filters.size() - 1)];
  };
  AllocatedFilter filter;
  filter.fpr = options_.fpr;
  filter.bits_per_key = options_.bits_per_key;
  filter.ribbon = HasRibbon(options_, context.table_options) &&
                  (FollowsTree(options_) || IsBottommost(context));
  if (!options_.level_bits.empty()) {
    // Tables of unknown level have -1.
    filter.bits_per_key =
        at_most_last(options_.level_bits, static_cast<std::size_t>(context.level_at_creation));
  }
  const auto distance = DistanceFromBottom(context);
  if (options_.size_ratio != 0.0 && distance) {
    const LevelFilter of_level = at_most_last(FiltersByDistance(), *distance);
    filter.bits_per_key = of_level.bits_per_key;
    filter.ribbon = of_level.ribbon && HasRibbon(options_, context.table_options);
  }
  return filter;
}

const std::vector<LevelFilter>& Allocation::FiltersByDistance() const {
  std::call_once(planned_, [this] {
    filters_by_distance_ = GeometricLevelBits(LayoutOf(options_), options_.size_ratio,
                                              options_.bits_per_key, HasRibbon(options_));
  });
  return filters_by_distance_;
}

std::optional<Allocation::LiveTable> Allocation::LiveTableOf(
    const FilterBuildingContext& context) const {
  tree::TableInProgress* const current = tree::CurrentTable(context);
  if (current == nullptr) return std::nullopt;
  if (!has_set_budget_) SetBudget();
  if (!current->has_policy) {
    current->has_policy = true;
    current->level = context.level_at_creation;
    current->shape->SetPolicy(current->family, id_);
    Follow(current->shape);
  }
  if (!current->shape->IsLoaded()) return std::nullopt;
  return LiveTable{current->shape,
                   current->family,
                   current->job,
                   context.level_at_creation,
                   current->is_planned,
                   current->keys,
                   context.info_log,
                   HasRibbon(options_, context.table_options) ? &division_ : &division_of_bloom_,
                   current->is_trial};
}

void Allocation::Follow(const std::shared_ptr<tree::LsmShape>& shape) const {
  if (budget_ != nullptr) budget_->Follow(shape);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = databases_.find(shape.get());
  if (known != databases_.end() && known->second.shape.lock() == shape) return;
  for (auto database = databases_.begin(); database != databases_.end();) {
    database = database->second.shape.expired() ? databases_.erase(database) : std::next(database);
  }
  databases_[shape.get()].shape = shape;
}

std::unique_lock<std::mutex> Allocation::LockBudget() const {
  return budget_ != nullptr ? budget_->Lock() : std::unique_lock<std::mutex>();
}

// Nothing if the shape was lost meanwhile.
std::optional<tree::TreeView> Allocation::ViewOf(const LiveTable& table) const {
  std::optional<tree::TreeView> view = table.shape->View(table.family, table.job, table.level);
  if (view && budget_ != nullptr) budget_->AddOthers(*table.shape, *view);
  return view;
}

double Allocation::ShareOf(const LiveTable& table, const tree::TreeView& view, double keys) const {
  const tree::TableShare share = table.division->Share(view, keys);
  LogShare(table, share);
  // What is rebuilt replaces what has more.
  const bool is_planned = table.is_planned && !share.planned.empty();
  const double bits_per_key = is_planned ? share.planned.back() : share.bits_per_key;
  if (budget_ != nullptr && !table.is_trial) {
    table.shape->SetPromised(table.family, table.job, bits_per_key * share.keys_to_write / 8.0);
  }
  return bits_per_key;
}

double Allocation::ShareOfPartition(const LiveTable& table, double most, double keys) const {
  const std::unique_lock<std::mutex> lock = LockBudget();
  const std::optional<tree::TreeView> view = ViewOf(table);
  if (!view) return most;
  const double left = table.division->BitsLeft(*view) - 8.0 * view->promised_bytes;
  const double bits_per_key = std::clamp(left / keys, 0.0, most);
  table.shape->AddPromised(table.family, table.job, bits_per_key * keys / 8.0);
  return bits_per_key;
}

void Allocation::LogBudget(const LiveTable& table, FollowedDatabase& database) const {
  if (database.logged_budget == budget_->Changes()) return;
  database.logged_budget = budget_->Changes();
  double used = 0.0;
  const auto use = budget_->Use();
  for (const auto& [path, families] : use) {
    for (const auto& [family, total] : families) used += total.filter_bytes;
  }
  rocksdb::Info(table.info_log,
                "exactbloom: memory budget '%s': the bound is %llu bytes, filters of %zu databases "
                "take %.0f",
                budget_->Name().c_str(), static_cast<unsigned long long>(budget_->Bytes()),
                use.size(), used);
  const auto own = use.find(table.shape->Database());
  if (own == use.end()) return;
  for (const auto& [family, total] : own->second) {
    rocksdb::Info(table.info_log, "exactbloom: memory budget '%s': column family [%s] takes %.0f",
                  budget_->Name().c_str(), family.c_str(), total.filter_bytes);
  }
}

void Allocation::LogShare(const LiveTable& table, const tree::TableShare& share) const {
  constexpr double kLoggedChange = 0.1;  // of the bits per key
  if (table.info_log == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  FollowedDatabase& database = databases_[table.shape.get()];
  if (budget_ != nullptr) LogBudget(table, database);
  if (share.is_over_budget && !database.is_budget_logged) {
    database.is_budget_logged = true;
    rocksdb::Warn(table.info_log,
                  "exactbloom: column family [%s]: the filters take all of the memory budget '%s' "
                  "of %llu bytes; new ones get at most %g bits per key until compaction or "
                  "rebuilding frees some",
                  table.family.c_str(), budget_->Name().c_str(),
                  static_cast<unsigned long long>(budget_->Bytes()), tree::kLeastBitsPerKey);
  }
  if (share.planned.empty()) return;
  double& last = database.logged[table.family][table.level];
  if (last != 0.0 && std::abs(share.bits_per_key - last) <= kLoggedChange * last) return;
  last = share.bits_per_key;
  std::string runs;
  for (std::size_t i = 0; i < share.runs.size(); ++i) {
    char text[96];
    std::snprintf(text, sizeof text, "%s%.0f x %.0f keys %.4g", i == 0 ? "" : ", ",
                  share.runs[i].count, share.runs[i].keys, share.planned[i]);
    runs += text;
  }
  rocksdb::Info(table.info_log,
                "exactbloom: column family [%s]: %.4g bits per key in level %d; the plan, in bits "
                "per key: %s",
                table.family.c_str(), share.bits_per_key, table.level, runs.c_str());
}

}  // namespace exactbloom
