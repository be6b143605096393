// The tables of a database with their filters, and how its options use them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database_options.h"
#include "table_report.h"

namespace exactbloom::tool {

// Sums over tables. Rates are means over the tables' keys: an absent key that is distributed as the
// stored ones falls into a table of a level in proportion to its keys.
struct FilterSummary {
  std::string column_family;
  int level = -1;

  std::uint64_t tables = 0;
  std::uint64_t unreadable = 0;
  std::map<std::string, std::uint64_t> families;  // tables by NameOf(their filter's)
  std::uint64_t file_bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t filter_bytes = 0;

  std::uint64_t keys = 0;  // in filters
  std::uint64_t bits = 0;  // of filters
  std::optional<double> fill;
  std::optional<double> exact_rate;  // of the tables that have one
  std::optional<double> fill_rate;
  std::optional<double> efficiency;
  std::optional<double> estimated_keys;

  // For a level: how many tables are read on average for an absent key in their ranges: one table
  // of a level below 0 may hold it, and all tables of level 0.
  double wasted_reads = 0.0;
};

// The sums over the levels of each column family: what a lookup of an absent key costs there.
std::map<std::string, double> WastedReads(const std::vector<FilterSummary>& levels);

struct Inspection {
  std::string database;  // empty: single files, whose levels are not known
  // The OPTIONS file, or why there is none.
  std::optional<DatabaseOptions> options;
  std::string no_options_reason;

  std::vector<TableReport> tables;
  std::vector<FilterSummary> levels;  // by column family and level
  FilterSummary totals;
};

// Reads the filters of the tables that ListTables finds; writes nothing. Throws as ReadTables.
Inspection Inspect(const std::vector<std::string>& paths);

}  // namespace exactbloom::tool
