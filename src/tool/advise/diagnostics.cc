#include "diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "plugin/bloom_filter_policy.h"

namespace exactbloom::tool {
namespace {

std::string Tables(std::uint64_t count) {
  return fmt::format("{} table{}", count, count == 1 ? "" : "s");
}

bool IsByteOrder(const std::string& comparator) {
  static const std::set<std::string> known = {"",
                                              "nullptr",
                                              "leveldb.BytewiseComparator",
                                              "leveldb.BytewiseComparator.u64ts",
                                              "rocksdb.ReverseBytewiseComparator",
                                              "rocksdb.ReverseBytewiseComparator.u64ts"};
  return known.count(comparator) != 0;
}

void CheckComparator(const FamilyOptions& options, std::vector<Trap>* traps) {
  if (IsByteOrder(options.comparator)) return;
  traps->push_back({"custom_comparator",
                    fmt::format("the comparator is {}; filters hash the bytes of keys, whatever "
                                "their order",
                                options.comparator),
                    "make sure that keys which it calls equal have equal bytes: a lookup by other "
                    "bytes is answered \"absent\""});
}

void CheckPartitions(const FamilyOptions& options, std::vector<Trap>* traps) {
  using TableOptions = rocksdb::BlockBasedTableOptions;
  if (!options.partition_filters || options.table->index_type == TableOptions::kTwoLevelIndexSearch)
    return;
  traps->push_back({"partition_filters_without_two_level_index",
                    "partition_filters is set, but index_type is not kTwoLevelIndexSearch: RocksDB "
                    "builds whole filters without a word",
                    "set index_type=kTwoLevelIndexSearch"});
}

void CheckHits(const FamilyFindings& family, std::vector<Trap>* traps) {
  if (!family.options->options.optimize_filters_for_hits || !family.tree->levels.back().deepest)
    return;
  traps->push_back({"optimize_filters_for_hits",
                    fmt::format("optimize_filters_for_hits is set: the tables of level {} get no "
                                "filter and none is asked there, so an absent key costs a read",
                                family.tree->levels.back().level),
                    "unset it unless nearly all lookups find their key, and rebuild"});
}

void CheckSizeRatio(const FamilyFindings& family, std::vector<Trap>* traps) {
  const auto* policy =
      dynamic_cast<const BloomFilterPolicy*>(family.options->table->filter_policy.get());
  if (policy == nullptr || policy->Options().size_ratio == 0.0) return;
  const auto& levels = family.tree->levels;
  if (levels.size() < 2 || levels[levels.size() - 2].level == 0) return;
  const double above = static_cast<double>(levels[levels.size() - 2].keys);
  const double real = static_cast<double>(levels.back().keys) / std::max(1.0, above);
  const double told = policy->Options().size_ratio;
  if (real >= told / kSizeRatioTolerance && real <= told * kSizeRatioTolerance) return;
  traps->push_back({"size_ratio_misfit",
                    fmt::format("size_ratio is {:g}, but level {} has {:.2g} times the keys of "
                                "level {}: the filters take other memory than bits_per_key says",
                                told, levels.back().level, real, levels[levels.size() - 2].level),
                    "set size_ratio to what the tree settles at (max_bytes_for_level_multiplier), "
                    "or use level_bits"});
}

}  // namespace

void FindTableTraps(const FamilyFindings& family, std::vector<Trap>* traps) {
  std::uint64_t without = 0;
  std::uint64_t legacy = 0;
  std::map<std::string, std::uint64_t> unused;  // by the reason
  for (const TableReport* table : family.tables) {
    const bool bottom = family.tree->levels.back().deepest &&
                        table->filter.level == family.tree->levels.back().level;
    const bool expected =
        family.options != nullptr && family.options->options.optimize_filters_for_hits && bottom;
    if (!table->HasFilter() && !expected) ++without;
    if (table->filter.family == FilterFamily::kLegacyBloom) ++legacy;
    if (table->use && table->use->use == FilterUse::kUnused && !expected) {
      unused[table->use->reason] += 1;
    }
  }
  if (without != 0) {
    traps->push_back({"tables_without_filter",
                      fmt::format("{} of {} have no filter: each in whose range an absent key lies "
                                  "is read",
                                  Tables(without), family.tables.size()),
                      "set a filter policy and rebuild"});
  }
  for (const auto& [reason, tables] : unused) {
    traps->push_back({"filters_not_used",
                      fmt::format("the filter of {} is not asked: {}", Tables(tables), reason),
                      "undo the change of options, or rebuild"});
  }
  const bool old_format = family.options != nullptr && family.options->table != nullptr &&
                          family.options->table->format_version < 5;
  if (legacy != 0 || old_format) {
    const std::string format =
        old_format ? fmt::format("format_version is {}", family.options->table->format_version)
                   : "format_version was below 5";
    traps->push_back({"old_format_version",
                      fmt::format("{}, and {} have RocksDB's older Bloom filter, whose rate is "
                                  "higher",
                                  format, Tables(legacy)),
                      "set format_version=5 for the built-in filters; ExactBloom's are the same in "
                      "each"});
  }
}

void FindOptionTraps(const FamilyFindings& family, std::vector<Trap>* traps) {
  if (family.options == nullptr) return;
  CheckComparator(*family.options, traps);
  CheckHits(family, traps);
  if (family.options->table == nullptr) return;
  CheckPartitions(*family.options, traps);
  CheckSizeRatio(family, traps);
}

FamilyFindings FindingsOf(const TreeShape& tree, const Inspection& inspection,
                          const LogFindings& log) {
  FamilyFindings findings;
  findings.tree = &tree;
  findings.counters = log.counters;
  for (const TableReport& table : inspection.tables) {
    const bool here = table.filter.column_family == tree.column_family;
    if (here && table.status.ok()) findings.tables.push_back(&table);
  }
  if (inspection.options && inspection.options->families.count(tree.column_family) != 0) {
    findings.options = &inspection.options->families.at(tree.column_family);
  }
  const auto cache = log.block_caches.find(tree.column_family);
  if (cache != log.block_caches.end()) findings.block_cache_bytes = cache->second;
  return findings;
}

std::vector<Trap> FindTraps(const FamilyFindings& family) {
  std::vector<Trap> traps;
  FindTableTraps(family, &traps);
  FindOptionTraps(family, &traps);
  FindPrefixTraps(family, &traps);
  FindCacheTraps(family, &traps);
  return traps;
}

}  // namespace exactbloom::tool
