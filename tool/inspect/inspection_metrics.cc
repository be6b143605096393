#include <fmt/format.h>

#include "inspect.h"
#include "plugin/metrics/metrics_text.h"
#include "tool/output.h"

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
  const std::uint64_t unread = inspection.totals.unreadable;
  const std::string at_least =
      unread == 0
          ? ""
          : fmt::format("# {} cannot be read: keys, bytes and wasted reads are at least these\n",
                        Counted(unread, "table"));
  return at_least + FormatMetrics(metrics);
}

}  // namespace exactbloom::tool
