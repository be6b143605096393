#include <cmath>

#include "inspect_report.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

json OrNull(const std::optional<double>& value) { return value ? Number(*value) : json(nullptr); }

json GeometryOf(const TableFilter& filter) {
  if (filter.family == FilterFamily::kRibbon) return {{"slots", filter.ribbon_slots}};
  if (filter.max_probes == 0) return json::object();
  json geometry{{"k", filter.max_probes}, {"least_k", filter.min_probes}};
  if (filter.family == FilterFamily::kExactBloom) {
    geometry["kind"] = filter.layout.kind == FilterKind::kClassic ? "classic" : "standard";
    geometry["lines"] = filter.layout.Lines();
    geometry["hash_seed"] = filter.hash_seed;
    geometry["block_format"] = filter.format_version;
  }
  return geometry;
}

json FilterJson(const TableReport& table) {
  const TableFilter& filter = table.filter;
  json document{{"family", NameOf(filter.family)}, {"policy", filter.policy}};
  if (!table.HasFilter()) return document;
  document.update(GeometryOf(filter));
  document.update(
      {{"partitioned", filter.partitioned},
       {"blocks", filter.blocks},
       {"bytes", filter.bytes},
       {"whole_keys", filter.whole_key_filtering},
       {"prefixes", filter.prefix_filtering},
       {"prefix_extractor", filter.prefix_extractor},
       {"m", table.bits},
       {"keys", table.keys},
       {"bits_per_key", Number(static_cast<double>(table.bits) / static_cast<double>(table.keys))},
       {"fill", OrNull(table.fill)},
       {"exact_rate", OrNull(table.exact_rate)},
       {"rate_given_fill", OrNull(table.fill_rate)},
       {"efficiency", OrNull(table.efficiency)},
       {"estimated_keys", OrNull(table.estimated_keys)},
       {"estimated_keys_deviation", Number(table.estimated_keys_deviation)},
       {"wide_gap", table.wide_gap}});
  if (!filter.reason.empty()) document["unknown_because"] = filter.reason;
  document["used"] = nullptr;
  if (table.use && table.use->use != FilterUse::kUnknown) {
    document["used"] = table.use->use == FilterUse::kUsed;
  }
  if (table.use && !table.use->reason.empty()) document["use_note"] = table.use->reason;
  return document;
}

json TableJson(const TableReport& table) {
  const TableFilter& filter = table.filter;
  json document{{"path", filter.path}, {"column_family", filter.column_family}};
  if (filter.level >= 0) document.update({{"level", filter.level}, {"number", filter.number}});
  if (!table.status.ok()) {
    document["error"] = Describe(table.status);
    return document;
  }
  document.update({{"bytes", filter.file_bytes},
                   {"entries", filter.entries},
                   {"range_deletes", filter.range_deletes},
                   {"filter", FilterJson(table)}});
  return document;
}

json SummaryJson(const FilterSummary& summary) {
  return {{"tables", summary.tables},
          {"unreadable", summary.unreadable},
          {"filters", summary.families},
          {"bytes", summary.file_bytes},
          {"entries", summary.entries},
          {"filter_bytes", summary.filter_bytes},
          {"m", summary.bits},
          {"keys", summary.keys},
          {"bits_per_key",
           Number(static_cast<double>(summary.bits) / static_cast<double>(summary.keys))},
          {"fill", OrNull(summary.fill)},
          {"exact_rate", OrNull(summary.exact_rate)},
          {"rate_given_fill", OrNull(summary.fill_rate)},
          {"efficiency", OrNull(summary.efficiency)},
          {"estimated_keys", OrNull(summary.estimated_keys)}};
}

}  // namespace

json ToJson(const Inspection& inspection) {
  json files = json::array();
  for (const TableReport& table : inspection.tables) files.push_back(TableJson(table));
  json levels = json::array();
  for (const FilterSummary& level : inspection.levels) {
    if (level.level < 0) continue;
    json document{{"column_family", level.column_family}, {"level", level.level}};
    document.update(SummaryJson(level));
    document["wasted_reads"] = level.wasted_reads;
    levels.push_back(document);
  }
  json totals = SummaryJson(inspection.totals);
  if (!inspection.database.empty()) totals["wasted_reads"] = WastedReads(inspection.levels);
  json document{{"files", files}, {"levels", levels}, {"totals", totals}};
  document["options_file"] = inspection.options ? json(inspection.options->file) : json(nullptr);
  return document;
}

}  // namespace exactbloom::tool
