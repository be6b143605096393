// Metrics of filters in the text format of Prometheus.
//
// Source: https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/measured_reads.h"
#include "exactbloom/memory_budget.h"
#include "exactbloom/metrics.h"

namespace exactbloom {

// Of the tables of a level of a column family, or of several families.
struct LevelMetrics {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;  // in filters
  std::uint64_t filter_bytes = 0;
  double wasted_reads = 0.0;  // predicted, per lookup of an absent key

  void Add(const LevelMetrics& other);
};

struct FamilyMetrics {
  std::map<int, LevelMetrics> levels;
  std::optional<std::uint64_t> tables_without_filter;  // none: not known

  void Add(const FamilyMetrics& other);
};

struct DatabaseMetrics {
  std::string database;                           // its path
  std::map<std::string, FamilyMetrics> families;  // by name
  std::optional<MeasuredReads> counted;
  std::vector<std::pair<std::string, MemoryBudgetUse>> budgets;  // with their names
};

// Returns the text, of at most kMostSeries series. In names, bytes that are not UTF-8, control
// characters of ASCII and backslashes become \xNN. Throws std::bad_alloc.
std::string FormatMetrics(const DatabaseMetrics& metrics);

}  // namespace exactbloom
