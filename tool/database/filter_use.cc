#include <fmt/format.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include "plugin/bloom_filter_policy.h"
#include "table_report.h"

namespace exactbloom::tool {
namespace {

FilterUseFinding Unused(std::string reason) { return {FilterUse::kUnused, std::move(reason)}; }

// Whether the policy can read the blocks.
FilterUseFinding ReadBy(const TableFilter& table, const FamilyOptions& options) {
  if (!options.NamesFilterPolicy()) return Unused("no filter policy is set");
  const rocksdb::FilterPolicy* policy = options.reader.get();
  if (policy == nullptr) {
    return {FilterUse::kUnknown,
            fmt::format("this program does not know the policy {}", options.filter_policy)};
  }
  if (table.compatibility_name != policy->CompatibilityName()) {
    return Unused(fmt::format("a filter of the family {}, but the policy {} reads {} only",
                              table.compatibility_name, policy->Name(),
                              policy->CompatibilityName()));
  }
  if (table.family == FilterFamily::kUnknown) return Unused(table.reason);
  if (table.family == FilterFamily::kExactBloom && BloomFilterPolicy::Of(policy) == nullptr) {
    return Unused(fmt::format(
        "an ExactBloom filter, but the policy {} takes it as \"always match\"", policy->Name()));
  }
  return {};
}

// Whether the prefixes in the filter are those that the database looks up.
FilterUseFinding PrefixesAskedFor(const TableFilter& table, const FamilyOptions& options) {
  if (!table.prefix_filtering) return Unused("it holds no prefixes");
  if (options.prefix_extractor.empty() || options.prefix_extractor == "nullptr") {
    return Unused("no prefix extractor is set");
  }
  const rocksdb::SliceTransform* extractor = options.options.prefix_extractor.get();
  if (extractor == nullptr) {
    return {FilterUse::kUnknown,
            "this program does not know the prefix extractor " + options.prefix_extractor};
  }
  if (extractor->AsString() == table.prefix_extractor) return {};
  return Unused(fmt::format("its prefixes are those of {}, while {} is set now",
                            table.prefix_extractor, extractor->AsString()));
}

FilterUseFinding AskedFor(const TableFilter& table, const FamilyOptions& options) {
  FilterUseFinding prefixes = PrefixesAskedFor(table, options);
  if (options.table->whole_key_filtering && table.whole_key_filtering) {
    const bool only_keys = table.prefix_filtering && prefixes.use == FilterUse::kUnused;
    return {FilterUse::kUsed, only_keys ? "not for prefixes: " + prefixes.reason : ""};
  }
  if (prefixes.use == FilterUse::kUsed) return prefixes;
  return {prefixes.use, (table.whole_key_filtering ? "whole_key_filtering is off now, and "
                                                   : "it holds no whole keys, and ") +
                            prefixes.reason};
}

}  // namespace

FilterUseFinding UseOf(const TableFilter& table, const FamilyOptions& options, bool deepest) {
  if (options.table == nullptr) return {FilterUse::kUnknown, "the tables are not block-based now"};
  if (table.family == FilterFamily::kBlockBased) {
    return Unused("one filter per data block, which RocksDB 7.4 and later do not read");
  }
  FilterUseFinding finding = ReadBy(table, options);
  if (finding.use != FilterUse::kUsed) return finding;
  if (options.options.optimize_filters_for_hits && deepest) {
    return Unused("optimize_filters_for_hits asks no filter of the deepest level");
  }
  return AskedFor(table, options);
}

}  // namespace exactbloom::tool
