// Prefixes that do not fit to the lookups, or to the tables.
#include <fmt/format.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <map>

#include "diagnostics.h"

namespace exactbloom::tool {
namespace {

bool HasExtractor(const FamilyOptions& options) {
  return !options.prefix_extractor.empty() && options.prefix_extractor != "nullptr";
}

void CheckWholeKeys(const FamilyOptions& options, std::vector<Trap>* traps) {
  if (options.table == nullptr || options.table->whole_key_filtering) return;
  if (!HasExtractor(options)) {
    traps->push_back({"no_keys_in_filters",
                      "whole_key_filtering is off and there is no prefix_extractor: nothing goes "
                      "into filters",
                      "set whole_key_filtering=true"});
    return;
  }
  traps->push_back({"prefixes_only",
                    "whole_key_filtering is off: Get asks for the key's prefix only, and reads a "
                    "table for every absent key whose prefix is there; the rates here are those "
                    "of absent prefixes",
                    "set whole_key_filtering=true if Get and MultiGet are used, and rebuild"});
}

// Prefixes in a table's filter, from the number of what went into it.
double PrefixesOf(const TableFilter& filter) {
  const auto added = static_cast<double>(filter.filter_keys);
  const auto keys =
      static_cast<double>(filter.entries - std::min(filter.entries, filter.range_deletes));
  return filter.whole_key_filtering ? std::max(0.0, added - keys) : added;
}

void CheckFewPrefixes(const FamilyFindings& family, std::vector<Trap>* traps) {
  std::uint64_t tables = 0;
  double prefixes = 0.0;
  std::uint64_t keys = 0;
  for (const TableReport* table : family.tables) {
    if (!table->HasFilter() || !table->filter.prefix_filtering) continue;
    tables += 1;
    prefixes += PrefixesOf(table->filter);
    keys += table->filter.entries;
  }
  if (tables == 0) return;
  const double mean = prefixes / static_cast<double>(tables);
  if (mean >= kFewPrefixes || mean >= static_cast<double>(keys) / static_cast<double>(tables)) {
    return;
  }
  traps->push_back({"few_prefixes",
                    fmt::format("the tables' filters hold {:.1f} prefixes on average, of {} keys: "
                                "a seek nearly always finds its prefix there, and reads",
                                mean, keys / tables),
                    "set a prefix_extractor that takes in more of the key"});
}

void CheckChangedExtractor(const FamilyFindings& family, std::vector<Trap>* traps) {
  const rocksdb::SliceTransform* extractor =
      family.options == nullptr ? nullptr : family.options->options.prefix_extractor.get();
  if (family.options == nullptr || (HasExtractor(*family.options) && extractor == nullptr)) return;
  const std::string now = extractor == nullptr ? "none" : extractor->AsString();
  std::map<std::string, std::uint64_t> others;
  for (const TableReport* table : family.tables) {
    const TableFilter& filter = table->filter;
    if (!table->HasFilter() || !filter.prefix_filtering || filter.prefix_extractor == now) continue;
    others[filter.prefix_extractor] += 1;
  }
  for (const auto& [other, tables] : others) {
    traps->push_back({"changed_prefix_extractor",
                      fmt::format("prefix_extractor is {}, but the filters of {} of {} tables hold "
                                  "prefixes of {}: no seek asks them",
                                  now, tables, family.tables.size(), other),
                      "set the former one, or let compaction rewrite these tables"});
  }
}

}  // namespace

void FindPrefixTraps(const FamilyFindings& family, std::vector<Trap>* traps) {
  if (family.options != nullptr) CheckWholeKeys(*family.options, traps);
  CheckFewPrefixes(family, traps);
  CheckChangedExtractor(family, traps);
}

}  // namespace exactbloom::tool
