// Sums and means over the tables of a level, or of all levels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

// By column family and level, in order.
std::vector<FilterSummary> SummarizeLevels(const std::vector<TableReport>& tables);

FilterSummary SummarizeAll(const std::vector<TableReport>& tables);

// The sums over the levels of each column family: what a lookup of an absent key costs there.
std::map<std::string, double> WastedReads(const std::vector<FilterSummary>& levels);

}  // namespace exactbloom::tool
