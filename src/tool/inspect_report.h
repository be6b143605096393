// What inspect found, in text and in JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "database_options.h"
#include "level_summary.h"
#include "table_report.h"

namespace exactbloom::tool {

struct Inspection {
  std::string database;  // empty: single files, whose levels are not known
  // The OPTIONS file, or why there is none to judge by.
  std::optional<DatabaseOptions> options;
  std::string no_options_reason;

  std::vector<TableReport> tables;
  std::vector<FilterSummary> levels;
  FilterSummary totals;
};

std::string FormatInspection(const Inspection& inspection, bool with_tables);

nlohmann::json ToJson(const Inspection& inspection);

}  // namespace exactbloom::tool
