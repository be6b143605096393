// exactbloom inspect: which filters do a database's tables have, and what do they let through?
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "arguments.h"
#include "database_files.h"
#include "findings.h"
#include "inspect_report.h"
#include "subcommands.h"

namespace exactbloom::tool {
namespace {

struct Question {
  std::vector<std::string> paths;
  bool summary = false;
  bool json = false;
};

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
    // Of level 0 only the last table would count as deepest.
    const bool at_bottom =
        table.filter.level > 0 && table.filter.level == deepest[table.filter.column_family];
    table.use = UseOf(table.filter, family->second, at_bottom);
  }
  inspection.options = std::move(options);
}

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

void Run(const Question& question) {
  const Inspection inspection = Inspect(question.paths);
  if (question.json) {
    PrintJson(ToJson(inspection));
  } else {
    fmt::print("{}", FormatInspection(inspection, !question.summary));
  }
  const std::uint64_t unreadable = inspection.totals.unreadable;
  if (unreadable != 0) {
    throw Findings(
        fmt::format("{} of {} tables cannot be read", unreadable, inspection.totals.tables));
  }
}

constexpr const char* kFooter =
    "A filter's exact rate follows from its bits, keys and probes, and is a mean over hash "
    "functions;\n"
    "\"given fill\" is the rate of this very filter, from the bits that are set in it. \"keys by "
    "fill\"\n"
    "is estimated from those bits, and marked with ! where it is too far from the table's own "
    "count\n"
    "to be chance. Wasted reads: tables read for an absent key within their ranges.\n"
    "Nothing is written, and the database may be in use: its tables are found in its MANIFEST.\n"
    "\n"
    "Examples:\n"
    "  exactbloom inspect /var/lib/service/db\n"
    "  exactbloom inspect --summary /var/lib/service/db\n"
    "  exactbloom inspect --json 000123.sst 000124.sst\n"
    "\n"
    "Exit status: 0; 1, some tables cannot be read, and the rest was printed; 2, no database.";

}  // namespace

void AddInspect(CLI::App& app) {
  auto question = std::make_shared<Question>();
  CLI::App* inspect = app.add_subcommand(
      "inspect",
      "The filters of a database's tables: their kind, rate, fill, and whether they are used");
  AddDatabase(*inspect, question->paths);
  inspect->add_flag("--summary", question->summary, "Levels only, no line a table");
  inspect->add_flag("--json", question->json, "Print JSON");
  inspect->footer(kFooter);
  inspect->callback([question] { Run(*question); });
}

}  // namespace exactbloom::tool
