#include <fmt/format.h>
#include <rocksdb/comparator.h>

#include <algorithm>
#include <map>

#include "advise.h"
#include "exactbloom/tree_listener.h"
#include "plugin/allocation/allocation.h"
#include "tool/output.h"
#include "tool/support/own_policy.h"

namespace exactbloom::tool {
namespace {

// Of one column family.
class FamilyWarnings {
 public:
  FamilyWarnings(const std::string& name, const Inspection& inspection)
      : inspection_(inspection), options_(inspection.OptionsOf(name)) {
    for (const TableReport& table : inspection.tables) {
      if (!table.status.ok() || table.filter.column_family != name) continue;
      tables_.push_back(&table);
      deepest_ = std::max(deepest_, table.filter.level);
    }
  }

  std::vector<Warning> Find() {
    FindTablesWithoutFilter();
    FindUnusedFilters();
    if (options_ == nullptr) return std::move(warnings_);
    CheckOptimizeForHits();
    CheckTreeListener();
    CheckPrefixes();
    CheckComparator();
    return std::move(warnings_);
  }

 private:
  void Warn(const char* name, std::string seen, const char* remedy) {
    warnings_.push_back({name, std::move(seen), remedy});
  }

  bool OptimizesForHits() const {
    return options_ != nullptr && options_->options.optimize_filters_for_hits && deepest_ > 0;
  }

  bool MayGoWithoutFilter(const TableReport& table) const {
    return OptimizesForHits() && table.filter.level == deepest_;
  }

  void FindTablesWithoutFilter() {
    const auto count = std::count_if(tables_.begin(), tables_.end(), [this](const auto* table) {
      return !table->HasFilter() && !MayGoWithoutFilter(*table);
    });
    if (count == 0) return;
    Warn("tables_without_filter",
         fmt::format("{} of {} without a filter: RocksDB reads them for each absent key in their "
                     "range",
                     Counted(static_cast<std::uint64_t>(count), "table"), tables_.size()),
         "set a filter policy and rebuild");
  }

  void FindUnusedFilters() {
    std::map<std::string, std::uint64_t> tables_by_reason;
    for (const TableReport* table : tables_) {
      const bool is_known = table->use && table->use->use != FilterUse::kUnknown;
      if (!is_known || table->use->reason.empty() || MayGoWithoutFilter(*table)) continue;
      tables_by_reason[table->use->reason] += 1;
    }
    for (const auto& [reason, tables] : tables_by_reason) {
      Warn("filters_not_used",
           fmt::format("lookups do not use the filter of {}: {}", Counted(tables, "table"), reason),
           "undo the change of options, or rebuild");
    }
  }

  void CheckOptimizeForHits() {
    if (!OptimizesForHits()) return;
    Warn("optimize_filters_for_hits",
         fmt::format("optimize_filters_for_hits is set: level {} has no filters, or does not use "
                     "them, so a lookup of an absent key reads a table there",
                     deepest_),
         "unset it, unless nearly all lookups find their key, and rebuild");
  }

  void CheckTreeListener() {
    const BloomFilterPolicy* policy =
        options_->table == nullptr ? nullptr
                                   : support::OwnPolicy(options_->table->filter_policy.get());
    const bool is_missing = policy != nullptr && FollowsTree(policy->Options()) &&
                            !HasTreeListener(inspection_.options->database);
    if (!is_missing) return;
    Warn("tree_listener_missing",
         fmt::format("the policy follows the tree, but the DBOptions have no listener for it: "
                     "DB::Open refuses it, and column families that are created with it get {:g} "
                     "bits per key in all tables",
                     policy->Options().bits_per_key),
         "set listeners=exactbloom_tree in the DBOptions, or add exactbloom::NewTreeListener() to "
         "the listeners, and open the database again");
  }

  void CheckPrefixes() {
    if (options_->table == nullptr || options_->table->whole_key_filtering) return;
    Warn("prefixes_only",
         "whole_key_filtering is off: the filters hold at most prefixes, so Get reads a table for "
         "each absent key whose prefix is present; the rates here are those of absent prefixes",
         "set whole_key_filtering=true if Get or MultiGet is used, and rebuild");
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

  const Inspection& inspection_;
  const FamilyOptions* options_;
  std::vector<const TableReport*> tables_;
  int deepest_ = 0;
  std::vector<Warning> warnings_;
};

}  // namespace

std::vector<Warning> WarningsOf(const std::string& column_family, const Inspection& inspection) {
  return FamilyWarnings(column_family, inspection).Find();
}

}  // namespace exactbloom::tool
