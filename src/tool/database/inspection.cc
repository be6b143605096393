#include "inspection.h"

#include <algorithm>
#include <map>
#include <utility>

#include "database_files.h"

namespace exactbloom::tool {
namespace {

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

Inspection Inspect(const std::vector<std::string>& paths) {
  Inspection inspection;
  TableReader reader;
  const auto read = ReadTables<TableReport>(
      paths, "reading filters", [&](const TableLocation& table) { return reader.Read(table); });
  inspection.database = read.database;
  for (const auto& [location, report] : read.tables) {
    inspection.tables.push_back(report);
    inspection.tables.back().filter.level = location.level;
  }
  if (!inspection.database.empty()) JudgeUse(inspection);
  inspection.levels = SummarizeLevels(inspection.tables);
  inspection.totals = SummarizeAll(inspection.tables);
  return inspection;
}

}  // namespace exactbloom::tool
