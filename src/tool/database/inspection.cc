#include "inspection.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "database_files.h"

namespace exactbloom::tool {
namespace {

void Summarize(Inspection& inspection) {
  std::map<std::pair<std::string, int>, FilterSummary> levels;
  for (const TableReport& table : inspection.tables) {
    levels[{table.filter.column_family, table.filter.level}].Add(table);
    inspection.totals.Add(table);
  }
  for (auto& [place, level] : levels) {
    std::tie(level.column_family, level.level) = place;
    inspection.levels.push_back(level);
  }
}

void JudgeUse(Inspection& inspection) {
  DatabaseOptions options;
  const rocksdb::Status status = LoadDatabaseOptions(inspection.database, &options);
  if (!status.ok()) {
    inspection.no_options_reason = Describe(status);
    return;
  }
  std::map<std::string, int> deepest;
  for (const TableReport& table : inspection.tables) {
    int& level = deepest[table.filter.column_family];
    level = std::max(level, table.filter.level);
  }
  for (TableReport& table : inspection.tables) {
    const auto family = options.families.find(table.filter.column_family);
    if (!table.HasFilter() || family == options.families.end()) continue;
    // In level 0 only the last table would count as deepest.
    const bool at_bottom =
        table.filter.level > 0 && table.filter.level == deepest[table.filter.column_family];
    table.use = UseOf(table.filter, family->second, at_bottom);
  }
  inspection.options = std::move(options);
}

}  // namespace

void FilterSummary::Add(const TableReport& table) {
  ++tables;
  if (!table.status.ok()) {
    ++unreadable;
    return;
  }
  ++families[NameOf(table.filter.family)];
  file_bytes += table.filter.file_bytes;
  entries += table.filter.entries;
  filter_bytes += table.filter.bytes;
  keys += table.keys;
  bits += table.bits;
  fill.Add(static_cast<double>(table.bits), table.fill);
  exact_rate.Add(static_cast<double>(table.keys), table.exact_rate);
  fill_rate.Add(static_cast<double>(table.keys), table.fill_rate);
  efficiency.Add(static_cast<double>(table.bits), table.efficiency);
  if (table.estimated_keys) estimated_keys = estimated_keys.value_or(0.0) + *table.estimated_keys;
  pass_rate.Add(static_cast<double>(table.filter.entries), table.PassRate());
  pass_rates += table.PassRate();
}

Inspection Inspect(const std::vector<std::string>& paths) {
  Inspection inspection;
  TableReader reader;
  const auto read = ReadTables<TableReport>(
      paths, "reading filters", [&](const TableLocation& table) { return reader.Read(table); });
  inspection.database = read.database;
  std::vector<const TableLocation*> locations;
  for (const auto& [location, report] : read.tables) locations.push_back(&location);
  const std::vector<bool> are_bottommost = AreBottommost(locations);
  for (const auto& [location, report] : read.tables) {
    const std::size_t number = inspection.tables.size();
    inspection.tables.push_back(report);
    inspection.tables.back().filter.level = location.level;
    inspection.tables.back().bottommost = are_bottommost[number];
  }
  if (!inspection.database.empty()) JudgeUse(inspection);
  Summarize(inspection);
  return inspection;
}

std::map<std::string, double> WastedReads(const std::vector<FilterSummary>& levels) {
  std::map<std::string, double> reads;
  for (const FilterSummary& level : levels) reads[level.column_family] += level.WastedReads();
  return reads;
}

}  // namespace exactbloom::tool
