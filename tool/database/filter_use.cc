#include <fmt/format.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include "exactbloom/layout.h"
#include "plugin/policy_options.h"
#include "sst/block_description.h"
#include "table_report.h"

namespace exactbloom::tool {
namespace {

FilterUseFinding Unused(std::string reason, std::string remedy =
                                                "undo the change of options, or "
                                                "compact the column family") {
  return {FilterUse::kUnused, std::move(reason), std::move(remedy)};
}

// Why the policy that a table names built no filter for it.
FilterUseFinding DeclinedBy(const TableFilter& table, const FamilyOptions* options, bool deepest) {
  const auto none = [](std::string reason, std::string remedy) {
    return FilterUseFinding{FilterUse::kNone, std::move(reason), std::move(remedy)};
  };
  if (options != nullptr && options->options.optimize_filters_for_hits && deepest) {
    return none(
        "optimize_filters_for_hits leaves the deepest level without filters",
        "unset it, unless nearly all lookups find their key, and compact the column family");
  }
  if (!table.whole_key_filtering && table.prefix_extractor.empty()) {
    return none(
        "no key goes into a filter with whole_key_filtering=false and without a prefix_extractor",
        kSetWholeKeys);
  }
  if (!table.whole_key_filtering) {
    return none(fmt::format("none of its keys has a prefix by {}, and whole_key_filtering was off",
                            table.prefix_extractor),
                kSetWholeKeys);
  }
  return none(
      fmt::format("its policy {} had less than {:g} bits per key for it, or skip_filters or "
                  "optimize_filters_for_hits was set when it was written",
                  table.policy, kMinBitsPerKey),
      "undo that, and compact the column family");
}

FilterUseFinding WhyNone(const TableFilter& table, const FamilyOptions* options, bool deepest) {
  if (table.PointEntries() == 0) {
    return {FilterUse::kNotNeeded, "range deletions only, of which lookups read no data", ""};
  }
  if (!table.policy.empty()) return DeclinedBy(table, options, deepest);
  if (options == nullptr || !options->NamesFilterPolicy()) {
    return {
        FilterUse::kNone,
        "the program that wrote it had no filter policy, or did not know the one it named",
        "set a filter policy that the program knows (exactbloom advise), and compact the column "
        "family"};
  }
  return {FilterUse::kNone,
          fmt::format("the program that wrote it did not have or did not know the policy {}",
                      options->filter_policy),
          !options->Ours()
              ? "compact the column family"
              : "let every program that writes the database load ExactBloom and call "
                "RegisterFilterPolicies(), or preload it, and compact the column family"};
}

// Whether the policy can read the blocks.
FilterUseFinding ReadBy(const TableFilter& table, const FamilyOptions& options) {
  if (!options.NamesFilterPolicy())
    return Unused("no filter policy is set", "set one (exactbloom advise)");
  const rocksdb::FilterPolicy* policy = options.reader.get();
  if (policy == nullptr) {
    return {FilterUse::kUnknown,
            fmt::format("this program does not know the policy {}", options.filter_policy), ""};
  }
  if (table.compatibility_name != policy->CompatibilityName()) {
    return Unused(fmt::format("a filter of the family {}, but the policy {} reads {} only",
                              table.compatibility_name, policy->Name(),
                              policy->CompatibilityName()));
  }
  if (table.reason == kLetsAllPass) {
    return Unused(table.reason + ": memory or a memory budget ran short when it was written",
                  "raise the memory budget or lower bits_per_key, and compact the column family");
  }
  if (table.family == FilterFamily::kUnknown) return Unused(table.reason);
  if (IsOurs(table.family) && !options.Ours()) {
    return Unused(fmt::format(
        "an ExactBloom filter, but the policy {} takes it as \"always match\"", policy->Name()));
  }
  return {};
}

// Whether the prefixes in the filter are those that the database looks up.
FilterUseFinding PrefixesAskedFor(const TableFilter& table, const FamilyOptions& options) {
  if (!table.prefix_filtering) return Unused("it holds no prefixes");
  if (!options.HasPrefixes()) return Unused("no prefix extractor is set");
  const rocksdb::SliceTransform* extractor = options.options.prefix_extractor.get();
  if (extractor == nullptr) {
    return {FilterUse::kUnknown,
            "this program does not know the prefix extractor " + options.prefix_extractor, ""};
  }
  if (extractor->AsString() == table.prefix_extractor) return {};
  return Unused(fmt::format("its prefixes are those of {}, while {} is set now",
                            table.prefix_extractor, extractor->AsString()));
}

FilterUseFinding AskedFor(const TableFilter& table, const FamilyOptions& options) {
  FilterUseFinding prefixes = PrefixesAskedFor(table, options);
  if (options.table->whole_key_filtering && table.whole_key_filtering) {
    const bool only_keys = table.prefix_filtering && prefixes.use == FilterUse::kUnused;
    if (!only_keys) return {FilterUse::kUsed, "", ""};
    return {FilterUse::kUsed, "not for prefixes: " + prefixes.reason, prefixes.remedy};
  }
  if (prefixes.use == FilterUse::kUsed) return prefixes;
  return {prefixes.use,
          (table.whole_key_filtering ? "whole_key_filtering is off now, and "
                                     : "it holds no whole keys, and ") +
              prefixes.reason,
          prefixes.remedy};
}

}  // namespace

FilterUseFinding UseOf(const TableFilter& table, const FamilyOptions* options, bool deepest) {
  if (table.family == FilterFamily::kNone) return WhyNone(table, options, deepest);
  if (options->table == nullptr) {
    return {FilterUse::kUnknown, "the tables are not block-based now", ""};
  }
  if (table.family == FilterFamily::kBlockBased) {
    return Unused("one filter per data block, which RocksDB 7.4 and later do not read",
                  "compact the column family");
  }
  FilterUseFinding finding = ReadBy(table, *options);
  if (finding.use != FilterUse::kUsed) return finding;
  if (options->options.optimize_filters_for_hits && deepest) {
    return Unused("optimize_filters_for_hits asks no filter of the deepest level",
                  "unset it, unless nearly all lookups find their key");
  }
  return AskedFor(table, *options);
}

}  // namespace exactbloom::tool
