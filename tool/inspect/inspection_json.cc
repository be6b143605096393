#include <algorithm>
#include <map>
#include <string>

#include "inspect.h"
#include "tool/output.h"

namespace exactbloom::tool {

using nlohmann::json;

std::string KindOfRate(const std::map<std::string, std::uint64_t>& families) {
  const std::size_t exact = families.count(NameOf(FilterFamily::kExactBloom)) +
                            families.count(NameOf(FilterFamily::kExactRibbon));
  const std::size_t none = families.count(NameOf(FilterFamily::kNone));
  if (exact == 0) return "model";
  return families.size() == exact + none ? "exact" : "mixed";
}

namespace {

bool FollowsAnyTree(const Inspection& inspection) {
  if (!inspection.options) return false;
  const auto& families = inspection.options->families;
  return std::any_of(families.begin(), families.end(), [](const auto& family) {
    const auto policy = family.second.Ours();
    return policy && FollowsTree(*policy);
  });
}

}  // namespace

std::map<std::string, TreePlan> PlansOf(const Inspection& inspection) {
  std::map<std::string, TreePlan> plans;
  if (!FollowsAnyTree(inspection)) return plans;  // the trees may take keys to be read
  for (const Tree& tree : TreesOf(inspection)) {
    if (!tree.unknown_keys.empty()) continue;
    const FamilyOptions* family = inspection.OptionsOf(tree.column_family);
    const auto policy = family == nullptr ? std::nullopt : family->Ours();
    if (policy && FollowsTree(*policy)) plans[tree.column_family] = PlanOf(*policy, tree);
  }
  return plans;
}

bool NamesOurs(const Inspection& inspection) {
  if (!inspection.options) return false;
  const auto& families = inspection.options->families;
  return std::any_of(families.begin(), families.end(),
                     [](const auto& family) { return family.second.Ours().has_value(); });
}

namespace {

json GeometryOf(const TableFilter& filter) {
  json geometry = json::object();
  if (filter.ribbon_slots != 0) {
    geometry["slots"] = filter.ribbon_slots;
  } else if (filter.max_probes != 0) {
    geometry.update({{"k", filter.max_probes}, {"least_k", filter.min_probes}});
  }
  if (filter.family == FilterFamily::kExactBloom) geometry["kind"] = Describe(filter.kind);
  if (IsOurs(filter.family)) {
    // As text, since many readers of JSON round numbers above 2^53.
    geometry.update(
        {{"hash_seed", std::to_string(filter.hash_seed)}, {"block_format", filter.format_version}});
  }
  return geometry;
}

json FilterJson(const TableReport& table) {
  const TableFilter& filter = table.filter;
  json document{{"family", NameOf(filter.family)}, {"policy", filter.policy}};
  if (table.use && !table.use->reason.empty()) document["use_note"] = table.use->reason;
  if (table.use && !table.use->remedy.empty()) document["to_do"] = table.use->remedy;
  if (!table.HasFilter()) return document;
  document.update(GeometryOf(filter));
  document.update(
      {{"partitioned", filter.partitioned},
       {"blocks", filter.blocks},
       {"empty_partitions", filter.empty_partitions},
       {"bytes", filter.bytes},
       {"whole_keys", filter.whole_key_filtering},
       {"prefixes", filter.prefix_filtering},
       {"prefix_extractor", filter.prefix_extractor},
       {"m", table.bits},
       {"keys", table.keys},
       {"bits_per_key", static_cast<double>(table.bits) / static_cast<double>(table.keys)},
       {"fill", table.fill},
       {"rate", table.exact_rate},
       {"rate_kind", KindOfRate({{NameOf(filter.family), 1}})},
       {"rate_given_fill", table.fill_rate}});
  if (!filter.reason.empty()) document["unknown_because"] = filter.reason;
  document["used"] = nullptr;
  if (table.use && table.use->use != FilterUse::kUnknown) {
    document["used"] = table.use->use == FilterUse::kUsed;
  }
  return document;
}

json TableJson(const TableReport& table) {
  const TableFilter& filter = table.filter;
  const TableLocation& location = table.location;
  json document{{"path", location.path}, {"column_family", location.column_family}};
  if (location.level >= 0) {
    document.update({{"level", location.level}, {"number", location.number}});
  }
  if (!table.status.ok()) {
    document["error"] = Describe(table.status);
    return document;
  }
  document.update({{"bytes", filter.file_bytes},
                   {"entries", filter.entries},
                   {"index_bytes", filter.index_bytes},
                   {"range_deletes", filter.range_deletes},
                   {"filter", FilterJson(table)}});
  return document;
}

json SummaryJson(const FilterSummary& summary) {
  return {{"tables", summary.tables},
          {"unreadable_tables", summary.unreadable},
          {"filtering", summary.filtering},
          {"without_keys", summary.without_keys},
          {"filters", summary.families},
          {"bytes", summary.file_bytes},
          {"entries", summary.entries},
          {"filter_bytes", summary.filter_bytes},
          {"index_bytes", summary.index_bytes},
          {"build_bytes", summary.build_bytes},
          {"m", summary.bits},
          {"keys", summary.keys},
          {"bits_per_key", static_cast<double>(summary.bits) / static_cast<double>(summary.keys)},
          {"fill", summary.fill.Value()},
          {"rate", summary.exact_rate.Value()},
          {"rate_kind", KindOfRate(summary.families)},
          {"rate_given_fill", summary.fill_rate.Value()}};
}

}  // namespace

json ToJson(const Inspection& inspection) {
  json files = json::array();
  for (const TableReport& table : inspection.tables) files.push_back(TableJson(table));
  json levels = json::array();
  for (const FilterSummary& level : inspection.levels) {
    json document{{"column_family", level.column_family}, {"level", level.level}};
    document.update(SummaryJson(level));
    document["asked"] = level.asked;
    document["wasted_reads"] = level.wasted_reads;
    levels.push_back(document);
  }
  json totals = SummaryJson(inspection.totals);
  totals["wasted_reads"] = json::object();
  for (const auto& [name, sums] : inspection.families) {
    totals["wasted_reads"][name] = sums.wasted_reads;
  }
  json document{{"files", files}, {"levels", levels}, {"totals", totals}};
  json plans = json::array();
  for (const auto& [family, plan] : PlansOf(inspection)) {
    plans.push_back(ToJson(plan));
    plans.back()["column_family"] = family;
  }
  document["plans"] = plans;
  document["names_exactbloom"] = NamesOurs(inspection);
  document["options_file"] = inspection.options ? json(inspection.options->file) : json(nullptr);
  return document;
}

}  // namespace exactbloom::tool
