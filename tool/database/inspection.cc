#include "inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "database_files.h"
#include "src/model/sorted_runs.h"
#include "support/errors.h"

namespace exactbloom::tool {
namespace {

void FindPlaces(const std::vector<std::string>& lookups, double present, Inspection& inspection) {
  std::map<std::string, std::vector<TableReport*>> families;
  for (TableReport& table : inspection.tables) {
    families[table.location.column_family].push_back(&table);
  }
  for (const auto& [name, reports] : families) {
    std::vector<model::Table> tables;
    std::vector<double> keys;
    for (const TableReport* report : reports) {
      tables.push_back(report->location);
      keys.push_back(static_cast<double>(report->filter.PointEntries()));
    }
    model::SortedRuns runs(std::move(tables), std::move(keys),
                           OrderOf(reports.front()->location.comparator));
    runs.SetLookups(lookups);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      reports[i]->bottommost = runs.IsBottommost(i);
      reports[i]->asked = runs.Ask(i).Mixed(present);
    }
  }
}

void Summarize(Inspection& inspection) {
  std::map<std::pair<std::string, int>, FilterSummary> levels;
  for (const TableReport& table : inspection.tables) {
    inspection.totals.Add(table);
    if (table.location.level >= 0) {
      levels[{table.location.column_family, table.location.level}].Add(table);
      inspection.families[table.location.column_family].Add(table);
    }
  }
  for (auto& [place, level] : levels) {
    std::tie(level.column_family, level.level) = place;
    inspection.levels.push_back(level);
  }
}

void LoadOptions(Inspection& inspection) {
  DatabaseOptions options;
  const rocksdb::Status status = LoadDatabaseOptions(inspection.database, &options);
  if (status.ok()) {
    inspection.options = std::move(options);
  } else {
    inspection.no_options_reason = Describe(status);
    inspection.options_unreadable = !status.IsNotFound();
  }
}

void JudgeUse(Inspection& inspection) {
  std::map<std::string, int> deepest;
  for (const TableReport& table : inspection.tables) {
    int& level = deepest[table.location.column_family];
    level = std::max(level, table.location.level);
  }
  for (TableReport& table : inspection.tables) {
    const FamilyOptions* family = inspection.OptionsOf(table.location.column_family);
    const bool is_unknown = table.HasFilter() && family == nullptr;
    if (!table.status.ok() || is_unknown) continue;
    // In level 0 only the last table counts as deepest.
    const bool at_bottom = table.location.level == deepest[table.location.column_family] &&
                           (table.location.level > 0 || table.bottommost);
    table.use = UseOf(table.filter, family, at_bottom);
  }
}

void KeepOnly(const std::string& family, Inspection& inspection) {
  std::vector<TableReport>& tables = inspection.tables;
  const auto others = std::stable_partition(
      tables.begin(), tables.end(),
      [&](const TableReport& table) { return table.location.column_family == family; });
  inspection.left_out.assign(std::make_move_iterator(others),
                             std::make_move_iterator(tables.end()));
  tables.erase(others, tables.end());
  if (tables.empty()) {
    throw support::InputError(
        fmt::format("{} has no tables of column family {}",
                    inspection.database.empty() ? "the list" : inspection.database, family));
  }
}

}  // namespace

void FilterSummary::Add(const TableReport& table) {
  ++tables;
  if (!table.status.ok()) {
    ++unreadable;
    return;
  }
  if (table.Filters()) ++filtering;
  if (!table.NeedsFilter()) ++without_keys;
  if (table.filter.empty_partitions != 0) ++with_empty_partitions;
  ++families[NameOf(table.filter.family)];
  file_bytes += table.filter.file_bytes;
  entries += table.filter.entries;
  filter_bytes += table.filter.bytes;
  index_bytes += table.filter.index_bytes;
  build_bytes = std::max(build_bytes, table.BuildBytes());
  keys += table.keys;
  bits += table.bits;
  fill.Add(static_cast<double>(table.bits), table.fill);
  exact_rate.Add(static_cast<double>(table.keys), table.exact_rate);
  fill_rate.Add(static_cast<double>(table.keys), table.fill_rate);
  asked += table.asked;
  wasted_reads += table.WastedReads();
}

void FilterSummary::Add(const FilterSummary& other) {
  tables += other.tables;
  unreadable += other.unreadable;
  filtering += other.filtering;
  without_keys += other.without_keys;
  with_empty_partitions += other.with_empty_partitions;
  for (const auto& [name, count] : other.families) families[name] += count;
  file_bytes += other.file_bytes;
  entries += other.entries;
  filter_bytes += other.filter_bytes;
  index_bytes += other.index_bytes;
  build_bytes = std::max(build_bytes, other.build_bytes);
  keys += other.keys;
  bits += other.bits;
  fill.Add(other.fill);
  exact_rate.Add(other.exact_rate);
  fill_rate.Add(other.fill_rate);
  asked += other.asked;
  wasted_reads += other.wasted_reads;
}

Inspection Inspect(const std::vector<std::string>& paths, const std::vector<std::string>& lookups,
                   const std::string& family, double present) {
  Inspection inspection;
  TableReader reader;
  const auto read = ReadTables<TableReport>(
      paths, "reading filters", [&](const TableLocation& table) { return reader.Read(table); });
  inspection.database = read.database;
  for (const auto& table : read.tables) inspection.tables.push_back(table.second);
  if (!inspection.database.empty()) LoadOptions(inspection);
  Conclude(lookups, present, inspection, family);
  return inspection;
}

void Conclude(const std::vector<std::string>& lookups, double present, Inspection& inspection,
              const std::string& family) {
  if (!inspection.IsOfFiles()) FindPlaces(lookups, present, inspection);
  if (!family.empty()) KeepOnly(family, inspection);
  JudgeUse(inspection);
  Summarize(inspection);
}

double MeanWastedReads(const Inspection& inspection) {
  if (inspection.families.empty()) return 0.0;
  double sum = 0.0;
  for (const auto& [name, family] : inspection.families) sum += family.wasted_reads;
  return sum / static_cast<double>(inspection.families.size());
}

const FamilyOptions* Inspection::OptionsOf(const std::string& column_family) const {
  if (!options) return nullptr;
  const auto family = options->families.find(column_family);
  return family == options->families.end() ? nullptr : &family->second;
}

}  // namespace exactbloom::tool
