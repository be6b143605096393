#include "exactbloom/metrics.h"

#include <utility>

#include "../live_tree/registry.h"
#include "exactbloom/tree_listener.h"
#include "metrics_text.h"

namespace exactbloom {
namespace {

void AddTablesWithoutFilter(const rocksdb::DB& db, DatabaseMetrics& metrics) {
  const auto database = tree::Registry::Get().Find(*const_cast<rocksdb::DB&>(db).GetRootDB());
  if (database == nullptr) return;
  const auto lock = database->Lock();
  for (const auto& [name, family] : database->families) {
    metrics.families[name].tables_without_filter = family->All().without_filter;
  }
}

}  // namespace

std::string GetMetrics(const rocksdb::DB& db, const std::vector<std::string>& budgets) {
  DatabaseMetrics metrics;
  metrics.database = db.GetName();
  for (const SortedRuns& runs : GetSortedRuns(db)) {
    constexpr double kLookups = 1000.0;
    metrics.families[runs.column_family].levels[runs.level].Add(
        {runs.tables, runs.keys, runs.filter_bytes, runs.wasted_per_1000 / kLookups});
  }
  AddTablesWithoutFilter(db, metrics);
  for (const std::string& name : budgets) {
    metrics.budgets.emplace_back(name, GetMemoryBudgetUse(name));
  }
  if (const auto statistics = db.GetDBOptions().statistics) {
    metrics.counted = MeasureReads(*statistics);
  }
  return FormatMetrics(metrics);
}

}  // namespace exactbloom
