#include <fmt/format.h>
#include <rocksdb/comparator.h>

#include <algorithm>
#include <map>

#include "advise.h"
#include "exactbloom/tree_listener.h"
#include "plugin/policy_options.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

// Of one column family.
class FamilyWarnings {
 public:
  FamilyWarnings(const std::string& name, const Inspection& inspection, const InfoLog& log)
      : inspection_(inspection), options_(inspection.OptionsOf(name)), name_(name), log_(log) {
    for (const TableReport& table : inspection.tables) {
      if (!table.status.ok() || table.location.column_family != name) continue;
      tables_.push_back(&table);
      deepest_ = std::max(deepest_, table.location.level);
    }
  }

  std::vector<Warning> Find() {
    FindTablesWithoutFilter();
    FindUnusedFilters();
    FindEmptyPartitions();
    if (options_ == nullptr) return std::move(warnings_);
    CheckOptimizeForHits();
    CheckTreeListener();
    CheckPrefixes();
    CheckComparator();
    CheckCache();
    return std::move(warnings_);
  }

 private:
  // Tables by the reason and the remedy that they share.
  using Findings = std::map<std::pair<std::string, std::string>, std::uint64_t>;

  void Warn(const char* name, std::string seen, std::string remedy) {
    warnings_.push_back({name, std::move(seen), std::move(remedy)});
  }

  bool OptimizesForHits() const {
    return options_ != nullptr && options_->options.optimize_filters_for_hits;
  }

  bool MayGoWithoutFilter(const TableReport& table) const {
    return OptimizesForHits() && table.location.level == deepest_ &&
           (deepest_ > 0 || table.bottommost);
  }

  void FindTablesWithoutFilter() {
    Findings findings;
    for (const TableReport* table : tables_) {
      if (!table->use || table->use->use != FilterUse::kNone || MayGoWithoutFilter(*table))
        continue;
      findings[{table->use->reason, table->use->remedy}] += 1;
    }
    for (const auto& [finding, tables] : findings) {
      Warn("tables_without_filter",
           fmt::format("{} of {} without a filter, so that lookups of absent keys read them: {}",
                       Counted(tables, "table"), tables_.size(), finding.first),
           finding.second);
    }
  }

  void FindUnusedFilters() {
    Findings findings;
    for (const TableReport* table : tables_) {
      const bool is_known =
          table->HasFilter() && table->use && table->use->use != FilterUse::kUnknown;
      if (!is_known || table->use->reason.empty() || MayGoWithoutFilter(*table)) continue;
      findings[{table->use->reason, table->use->remedy}] += 1;
    }
    for (const auto& [finding, tables] : findings) {
      const auto& [reason, remedy] = finding;
      Warn("filters_not_used",
           fmt::format("lookups do not use the filter of {}: {}", Counted(tables, "table"), reason),
           remedy);
    }
  }

  void FindEmptyPartitions() {
    const auto count = std::count_if(tables_.begin(), tables_.end(), [](const auto* table) {
      return table->filter.empty_partitions != 0;
    });
    if (count == 0) return;
    Warn("empty_partitions",
         fmt::format("{} with empty filter partitions: {}",
                     Counted(static_cast<std::uint64_t>(count), "table"), kEmptyPartitions),
         kCureOfEmptyPartitions);
  }

  void CheckOptimizeForHits() {
    if (!OptimizesForHits()) return;
    Warn("optimize_filters_for_hits",
         fmt::format("optimize_filters_for_hits is set: {} no filters, or does not use "
                     "them, so a lookup of an absent key reads a table there",
                     deepest_ > 0 ? fmt::format("level {} has", deepest_)
                                  : "the oldest table of level 0 has"),
         "unset it, unless nearly all lookups find their key, and compact the column family");
  }

  void CheckTreeListener() {
    const std::optional<PolicyOptions> policy = options_->Ours();
    const bool is_missing =
        policy && FollowsTree(*policy) && !HasTreeListener(inspection_.options->database);
    if (!is_missing) return;
    Warn("tree_listener_missing",
         fmt::format("the policy follows the tree, but the DBOptions have no listener for it: "
                     "DB::Open refuses it, and column families that are created with it get {:g} "
                     "bits per key in all tables",
                     policy->bits_per_key),
         fmt::format("set listeners=exactbloom_tree in the DBOptions, or add "
                     "exactbloom::NewTreeListener() to the listeners, and open the database again; "
                     "or set exact_ribbon:{:g}, which needs none",
                     policy->bits_per_key));
  }

  void CheckPrefixes() {
    const rocksdb::BlockBasedTableOptions* table = options_->table;
    if (table == nullptr || table->whole_key_filtering || options_->FiltersNothing()) return;
    Warn("prefixes_only",
         "whole_key_filtering is off: the filters hold at most prefixes, so Get reads a table for "
         "each absent key whose prefix is present; the rates here are those of absent prefixes",
         "set whole_key_filtering=true if Get or MultiGet is used, and compact the column family");
  }

  void CheckComparator() {
    const std::string& name = options_->comparator;
    const auto is_of = [&name](const rocksdb::Comparator* order) {
      return name == order->Name() || name == std::string(order->Name()) + ".u64ts";
    };
    const bool is_known = name.empty() || name == "nullptr" ||
                          is_of(rocksdb::BytewiseComparator()) ||
                          is_of(rocksdb::ReverseBytewiseComparator());
    if (is_known) return;
    Warn("custom_comparator",
         fmt::format("the comparator is {}, but filters hash the bytes of keys", name),
         "make sure that keys which it calls equal have equal bytes: otherwise lookups miss them");
  }

  void CheckCache() {
    const rocksdb::BlockBasedTableOptions* table = options_->table;
    if (table == nullptr || !table->cache_index_and_filter_blocks) return;
    const auto place = log_.caches.find(name_);
    const BlockCache cache = place == log_.caches.end() ? BlockCache() : place->second;
    std::uint64_t largest = 0;
    std::uint64_t in_level0 = 0;
    for (const TableReport* report : tables_) {
      if (!report->filter.partitioned) largest = std::max(largest, report->filter.bytes);
      if (report->location.level == 0) in_level0 += report->filter.bytes;
    }
    std::uint64_t held = 0;  // of all column families that share the cache
    for (const TableReport& report : inspection_.tables) {
      const FamilyOptions* options = inspection_.OptionsOf(report.location.column_family);
      const bool is_cached = options != nullptr && options->table != nullptr &&
                             options->table->cache_index_and_filter_blocks;
      const auto other = log_.caches.find(report.location.column_family);
      const bool shares = other != log_.caches.end() && other->second.address == cache.address;
      if (is_cached && shares) held += report.filter.bytes;
    }
    if (cache.capacity != 0 && held > cache.capacity) {
      Warn("filters_exceed_cache",
           fmt::format("the block cache of {} holds the filters, which take {}, so that lookups "
                       "read filters",
                       FormatBytes(cache.capacity), FormatBytes(held)),
           "make it larger than filters, indexes and the data that is often read, or unset "
           "cache_index_and_filter_blocks");
    }
    const std::uint64_t shard = cache.capacity >> std::clamp(cache.shard_bits, 0, 20);
    if (cache.capacity != 0 && largest > shard) {
      Warn("filter_exceeds_shard",
           fmt::format("the largest filter has {}, and a shard of the block cache {}: it does not "
                       "stay in the cache",
                       FormatBytes(largest), FormatBytes(shard)),
           "partition the filters (partition_filters, kTwoLevelIndexSearch), or make the cache "
           "larger or its num_shard_bits smaller");
    }
    const rocksdb::PinningTier tier = table->partition_filters
                                          ? table->metadata_cache_options.partition_pinning
                                          : table->metadata_cache_options.unpartitioned_pinning;
    const bool is_pinned = tier == rocksdb::PinningTier::kFallback
                               ? table->pin_l0_filter_and_index_blocks_in_cache
                               : tier != rocksdb::PinningTier::kNone;
    if (is_pinned) return;
    Warn("level0_not_pinned",
         fmt::format("the filters of level 0, {} now, are in the block cache and not pinned: data "
                     "can displace them, and every lookup asks them",
                     FormatBytes(in_level0)),
         "set pin_l0_filter_and_index_blocks_in_cache=true");
  }

  const Inspection& inspection_;
  const FamilyOptions* options_;
  const std::string name_;
  const InfoLog& log_;
  std::vector<const TableReport*> tables_;
  int deepest_ = 0;
  std::vector<Warning> warnings_;
};

}  // namespace

std::vector<Warning> WarningsOf(const std::string& column_family, const Inspection& inspection,
                                const InfoLog& log) {
  return FamilyWarnings(column_family, inspection, log).Find();
}

}  // namespace exactbloom::tool
