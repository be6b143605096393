// The tables of a database with their filters, and how its options use them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "database_options.h"
#include "level_summary.h"
#include "table_report.h"

namespace exactbloom::tool {

struct Inspection {
  std::string database;  // empty: single files, whose levels are not known
  // The OPTIONS file, or why there is none.
  std::optional<DatabaseOptions> options;
  std::string no_options_reason;

  std::vector<TableReport> tables;
  std::vector<FilterSummary> levels;
  FilterSummary totals;
};

// Reads the filters of the tables that ListTables finds; writes nothing. Throws as ReadTables.
Inspection Inspect(const std::vector<std::string>& paths);

}  // namespace exactbloom::tool
