#include "diagnostics.h"

#include <fmt/format.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "support/own_policy.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

using Seen = std::vector<std::string>;  // what a diagnostic found, one text per cause

bool IsFilteredForHits(const FamilyFindings& family) {
  return family.options != nullptr && family.options->options.optimize_filters_for_hits &&
         family.tree->levels.back().deepest;
}

// Whether optimize_filters_for_hits is the reason why a table has no filter, or it is not used.
bool NeedsNoFilter(const FamilyFindings& family, const TableReport& table) {
  return IsFilteredForHits(family) && table.filter.level == family.tree->levels.back().level;
}

// The tables.

Seen TablesWithoutFilter(const FamilyFindings& family) {
  const auto without = std::count_if(family.tables.begin(), family.tables.end(),
                                     [&family](const TableReport* table) {
                                       return !table->HasFilter() && !NeedsNoFilter(family, *table);
                                     });
  if (without == 0) return {};
  return {fmt::format("{} of {} without a filter: each is read for every absent key in its range",
                      Counted(static_cast<std::uint64_t>(without), "table"), family.tables.size())};
}

Seen FiltersNotUsed(const FamilyFindings& family) {
  std::map<std::string, std::uint64_t> tables_by_reason;
  for (const TableReport* table : family.tables) {
    const bool unused = table->use && table->use->use == FilterUse::kUnused;
    if (unused && !NeedsNoFilter(family, *table)) tables_by_reason[table->use->reason] += 1;
  }
  Seen seen;
  for (const auto& [reason, tables] : tables_by_reason) {
    seen.push_back(
        fmt::format("the filter of {} is not asked: {}", Counted(tables, "table"), reason));
  }
  return seen;
}

Seen OldFormatVersion(const FamilyFindings& family) {
  constexpr std::uint32_t kNewBloomFilter = 5;
  const auto legacy = std::count_if(
      family.tables.begin(), family.tables.end(),
      [](const TableReport* table) { return table->filter.family == FilterFamily::kLegacyBloom; });
  const auto* options = family.TableOptions();
  const bool old_format = options != nullptr && options->format_version < kNewBloomFilter;
  if (legacy == 0 && !old_format) return {};
  return {fmt::format("{}, and {} have RocksDB's older Bloom filter, whose rate is higher",
                      old_format ? fmt::format("format_version is {}", options->format_version)
                                 : "format_version was below 5",
                      Counted(static_cast<std::uint64_t>(legacy), "table"))};
}

// The options.

Seen OptimizedForHits(const FamilyFindings& family) {
  if (!IsFilteredForHits(family)) return {};
  return {
      fmt::format("optimize_filters_for_hits is set: the tables of level {} get no filter and "
                  "none is asked there, so an absent key costs a read",
                  family.tree->levels.back().level)};
}

Seen PartitionsWithoutIndex(const FamilyFindings& family) {
  using rocksdb::BlockBasedTableOptions;
  const auto* options = family.TableOptions();
  if (options == nullptr || !family.options->partition_filters ||
      options->index_type == BlockBasedTableOptions::kTwoLevelIndexSearch) {
    return {};
  }
  return {
      "partition_filters is set, but index_type is not kTwoLevelIndexSearch: RocksDB builds "
      "whole filters and reports nothing"};
}

Seen CustomComparator(const FamilyFindings& family) {
  static const std::set<std::string> byte_orders = {"",
                                                    "nullptr",
                                                    "leveldb.BytewiseComparator",
                                                    "leveldb.BytewiseComparator.u64ts",
                                                    "rocksdb.ReverseBytewiseComparator",
                                                    "rocksdb.ReverseBytewiseComparator.u64ts"};
  if (family.options == nullptr || byte_orders.count(family.options->comparator) != 0) return {};
  return {fmt::format("the comparator is {}; filters hash the bytes of keys, whatever their order",
                      family.options->comparator)};
}

// Null unless it is one of ours.
const BloomFilterPolicy* PolicyOf(const FamilyFindings& family) {
  const auto* options = family.TableOptions();
  return options == nullptr ? nullptr : support::OwnPolicy(options->filter_policy.get());
}

Seen TreeListenerMissing(const FamilyFindings& family) {
  const BloomFilterPolicy* policy = PolicyOf(family);
  if (policy == nullptr || !FollowsTree(policy->Options()) || family.HasTreeListener()) return {};
  return {
      fmt::format("the policy follows the tree, but the DBOptions have no listener that shows "
                  "it the tree: all tables get {:g} bits per key",
                  policy->Options().bits_per_key)};
}

Seen MemoryBudgetExceeded(const FamilyFindings& family) {
  const BloomFilterPolicy* policy = PolicyOf(family);
  if (policy == nullptr || policy->Options().memory_budget == 0) return {};
  std::uint64_t bytes = 0;
  for (const TableReport* table : family.tables) bytes += table->filter.bytes;
  const auto budget = static_cast<double>(policy->Options().memory_budget);
  if (static_cast<double>(bytes) <= (1.0 + kBudgetTolerance) * budget) return {};
  return {
      fmt::format("the filters take {} bytes, and memory_budget is {:.0f}: new tables get the "
                  "least that is worth a filter until compaction has freed some",
                  bytes, budget)};
}

Seen SizeRatioMisfit(const FamilyFindings& family) {
  const std::string misfit =
      support::SizeRatioMisfit(PolicyOf(family), family.tree->KeysOfLevels());
  return misfit.empty() ? Seen() : Seen{misfit};
}

// The last number is for all deeper levels, so when the tree grows by one, the level above it gets
// what was meant for the deepest.
Seen LevelBitsMisfit(const FamilyFindings& family) {
  constexpr double kMuchSmaller = 0.5;
  const BloomFilterPolicy* policy = PolicyOf(family);
  if (policy == nullptr || policy->Options().level_bits.empty()) return {};
  const std::vector<double>& bits = policy->Options().level_bits;
  const auto bits_of = [&bits](const TreeLevel& level) {
    return bits[std::min(static_cast<std::size_t>(level.level), bits.size() - 1)];
  };
  const TreeLevel& deepest = family.tree->levels.back();
  Seen seen;
  for (const TreeLevel& level : family.tree->levels) {
    const double part =
        static_cast<double>(level.keys) / std::max(1.0, static_cast<double>(deepest.keys));
    if (level.level == deepest.level || part > kMuchSmaller || bits_of(level) > bits_of(deepest)) {
      continue;
    }
    seen.push_back(fmt::format(
        "level_bits was made for another tree: level {} has {:.2g} of the keys of level {}, and "
        "gets {:g} bits per key to its {:g}",
        level.level, part, deepest.level, bits_of(level), bits_of(deepest)));
  }
  return seen;
}

// Prefixes.

bool HasExtractor(const FamilyOptions& options) {
  return !options.prefix_extractor.empty() && options.prefix_extractor != "nullptr";
}

bool LacksWholeKeys(const FamilyFindings& family) {
  return family.TableOptions() != nullptr && !family.TableOptions()->whole_key_filtering;
}

Seen NoKeysInFilters(const FamilyFindings& family) {
  if (!LacksWholeKeys(family) || HasExtractor(*family.options)) return {};
  return {"whole_key_filtering is off and there is no prefix_extractor: nothing goes into filters"};
}

Seen PrefixesOnly(const FamilyFindings& family) {
  if (!LacksWholeKeys(family) || !HasExtractor(*family.options)) return {};
  return {
      "whole_key_filtering is off: Get asks for the key's prefix only, and reads a table for "
      "every absent key whose prefix is present; the rates here are those of absent prefixes"};
}

// The number of prefixes in a table's filter, from the number of its entries.
double PrefixesOf(const TableFilter& filter) {
  const auto added = static_cast<double>(filter.filter_keys);
  const auto keys =
      static_cast<double>(filter.entries - std::min(filter.entries, filter.range_deletes));
  return filter.whole_key_filtering ? std::max(0.0, added - keys) : added;
}

Seen FewPrefixes(const FamilyFindings& family) {
  std::uint64_t tables = 0;
  double prefixes = 0.0;
  std::uint64_t keys = 0;
  for (const TableReport* table : family.tables) {
    if (!table->HasFilter() || !table->filter.prefix_filtering) continue;
    tables += 1;
    prefixes += PrefixesOf(table->filter);
    keys += table->filter.entries;
  }
  if (tables == 0) return {};
  const double mean = prefixes / static_cast<double>(tables);
  const double mean_keys = static_cast<double>(keys) / static_cast<double>(tables);
  if (mean >= kFewPrefixes || mean >= mean_keys) return {};
  return {
      fmt::format("the tables' filters hold {:.1f} prefixes on average, of {} keys: a seek "
                  "nearly always finds its prefix there, and reads",
                  mean, keys / tables)};
}

Seen ChangedPrefixExtractor(const FamilyFindings& family) {
  if (family.options == nullptr) return {};
  const rocksdb::SliceTransform* extractor = family.options->options.prefix_extractor.get();
  if (HasExtractor(*family.options) && extractor == nullptr) return {};  // not known here
  const std::string now = extractor == nullptr ? "none" : extractor->AsString();
  std::map<std::string, std::uint64_t> tables_by_extractor;
  for (const TableReport* table : family.tables) {
    const TableFilter& filter = table->filter;
    if (!table->HasFilter() || !filter.prefix_filtering || filter.prefix_extractor == now) continue;
    tables_by_extractor[filter.prefix_extractor] += 1;
  }
  Seen seen;
  for (const auto& [other, tables] : tables_by_extractor) {
    seen.push_back(fmt::format(
        "prefix_extractor is {}, but the filters of {} of {} tables hold prefixes of {}: no seek "
        "asks them",
        now, tables, family.tables.size(), other));
  }
  return seen;
}

// The block cache.

Seen FiltersEvicted(const FamilyFindings& family) {
  if (!family.counters) return {};
  const std::uint64_t misses = family.counters->cache_misses;
  const std::uint64_t asked = family.counters->cache_hits + misses;
  // Each block is missed once, when it is read for the first time.
  std::uint64_t first_reads = 0;
  for (const TableReport* table : family.tables) first_reads += table->filter.blocks;
  const double share = static_cast<double>(misses) / std::max(1.0, static_cast<double>(asked));
  if (misses <= first_reads || share <= kManyFilterMisses) return {};
  return {fmt::format("{} of {} lookups of a filter in the block cache did not find it ({:.1f}%)",
                      misses, asked, 100.0 * share)};
}

struct DiagnosticRule {
  const char* name;
  Seen (*find)(const FamilyFindings& family);
  const char* remedy;
};

constexpr DiagnosticRule kDiagnosticRules[] = {
    {"tables_without_filter", TablesWithoutFilter, "set a filter policy and rebuild"},
    {"filters_not_used", FiltersNotUsed, "undo the change of options, or rebuild"},
    {"old_format_version", OldFormatVersion,
     "set format_version=5 for the built-in filters; ExactBloom's are the same in each"},
    {"custom_comparator", CustomComparator,
     "make sure that keys which it calls equal have equal bytes: a lookup by other bytes is "
     "answered \"absent\""},
    {"optimize_filters_for_hits", OptimizedForHits,
     "unset it unless nearly all lookups find their key, and rebuild"},
    {"partition_filters_without_two_level_index", PartitionsWithoutIndex,
     "set index_type=kTwoLevelIndexSearch"},
    {"size_ratio_misfit", SizeRatioMisfit,
     "set size_ratio to what the tree settles at (max_bytes_for_level_multiplier), or to auto with "
     "listeners=exactbloom_tree in the DBOptions"},
    {"level_bits_misfit", LevelBitsMisfit,
     "set the level_bits of the advice for the present tree, or size_ratio=auto with "
     "listeners=exactbloom_tree in the DBOptions, which follows it"},
    {"tree_listener_missing", TreeListenerMissing,
     "set listeners=exactbloom_tree in the DBOptions, or push exactbloom::NewTreeListener() into "
     "them, and open the database again"},
    {"memory_budget_exceeded", MemoryBudgetExceeded, "rebuild with another policy, or allow more"},
    {"no_keys_in_filters", NoKeysInFilters, "set whole_key_filtering=true"},
    {"prefixes_only", PrefixesOnly,
     "set whole_key_filtering=true if Get and MultiGet are used, and rebuild"},
    {"few_prefixes", FewPrefixes, "set a prefix_extractor with longer prefixes"},
    {"changed_prefix_extractor", ChangedPrefixExtractor,
     "set the former one, or let compaction rewrite these tables"},
    {"filters_evicted", FiltersEvicted,
     "enlarge the block cache, pin filters (metadata_cache_options), or set "
     "cache_index_and_filter_blocks=false"},
};

}  // namespace

std::uint64_t FilterCounters::FalsePositives() const {
  return positives - std::min(positives, true_positives);
}

std::optional<FilterCounters> ReadStatistics(std::istream& text) {
  static const std::map<std::string, std::uint64_t FilterCounters::*> members = {
      {"rocksdb.number.keys.read", &FilterCounters::lookups},
      {"rocksdb.bloom.filter.useful", &FilterCounters::useful},
      {"rocksdb.bloom.filter.full.positive", &FilterCounters::positives},
      {"rocksdb.bloom.filter.full.true.positive", &FilterCounters::true_positives},
      {"rocksdb.block.cache.filter.hit", &FilterCounters::cache_hits},
      {"rocksdb.block.cache.filter.miss", &FilterCounters::cache_misses},
  };
  std::optional<FilterCounters> counters;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string name, count, colon;
    std::uint64_t number = 0;
    const auto member =
        words >> name >> count >> colon >> number ? members.find(name) : members.end();
    if (member == members.end() || count != "COUNT" || colon != ":") continue;
    if (!counters) counters.emplace();
    (*counters).*(member->second) = number;
  }
  return counters;
}

FamilyFindings FindingsOf(const Tree& tree, const Inspection& inspection,
                          const std::optional<FilterCounters>& counters) {
  FamilyFindings findings;
  findings.tree = &tree;
  findings.counters = counters;
  for (const TableReport& table : inspection.tables) {
    const bool here = table.filter.column_family == tree.column_family;
    if (here && table.status.ok()) findings.tables.push_back(&table);
  }
  if (inspection.options && inspection.options->families.count(tree.column_family) != 0) {
    findings.options = &inspection.options->families.at(tree.column_family);
    findings.database = &inspection.options->database;
  }
  return findings;
}

bool FamilyFindings::HasTreeListener() const {
  return database != nullptr && exactbloom::HasTreeListener(*database);
}

std::vector<Diagnostic> Diagnose(const FamilyFindings& family) {
  std::vector<Diagnostic> diagnostics;
  for (const DiagnosticRule& rule : kDiagnosticRules) {
    for (const std::string& seen : rule.find(family)) {
      diagnostics.push_back({rule.name, seen, rule.remedy});
    }
  }
  return diagnostics;
}

}  // namespace exactbloom::tool
