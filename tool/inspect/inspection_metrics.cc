#include "inspect.h"
#include "plugin/metrics/metrics_text.h"

namespace exactbloom::tool {

std::string MetricsOf(const Inspection& inspection) {
  DatabaseMetrics metrics;
  metrics.database = inspection.database;
  for (const FilterSummary& level : inspection.levels) {
    metrics.families[level.column_family].levels[level.level] = {
        level.tables, level.keys, level.filter_bytes, level.wasted_reads};
  }
  for (const auto& [name, sums] : inspection.families) {
    metrics.families[name].tables_without_filter = sums.tables - sums.filtering - sums.without_keys;
  }
  return FormatMetrics(metrics);
}

}  // namespace exactbloom::tool
