#include "build_time.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "filter_bits_interface.h"
#include "report/machine.h"

namespace exactbloom::sweep {
namespace {

using SortedRuns = std::vector<std::vector<const std::string*>>;

SortedRuns SortRuns(const readamp::KeySet& keys, int runs) {
  SortedRuns sorted(static_cast<std::size_t>(runs));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys.sorted_run[i] == readamp::kAbsent) continue;
    sorted[static_cast<std::size_t>(keys.sorted_run[i])].push_back(&keys.keys[i]);
  }
  for (auto& run : sorted) {
    std::sort(run.begin(), run.end(), [](const auto* a, const auto* b) { return *a < *b; });
  }
  return sorted;
}

void BuildFilters(const rocksdb::FilterPolicy& policy, const std::vector<readamp::Table>& tables,
                  const SortedRuns& runs) {
  const rocksdb::BlockBasedTableOptions options;
  rocksdb::FilterBuildingContext context(options);
  context.num_levels = tables.back().level + 1;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  int run = -1;
  std::size_t next = 0;
  for (const readamp::Table& table : tables) {
    if (table.sorted_run != run) next = 0;
    run = table.sorted_run;
    context.level_at_creation = table.level;
    context.is_bottommost = table.level == context.num_levels - 1;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(context));
    const auto& keys = runs[static_cast<std::size_t>(run)];
    if (builder == nullptr) continue;
    for (; next < keys.size() && *keys[next] <= table.largest; ++next) builder->AddKey(*keys[next]);
    std::unique_ptr<const char[]> filter;
    builder->Finish(&filter);
  }
}

}  // namespace

double FilterBuildNanoseconds(const rocksdb::FilterPolicy* policy,
                              const std::vector<readamp::Table>& tables,
                              const readamp::KeySet& keys, int repetitions) {
  if (policy == nullptr || tables.empty()) return 0.0;
  const SortedRuns runs = SortRuns(keys, tables.back().sorted_run + 1);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    const double before = bench::ProcessCpuMicroseconds();
    BuildFilters(*policy, tables, runs);
    least = std::min(least, bench::ProcessCpuMicroseconds() - before);
  }
  return 1e3 * least / static_cast<double>(keys.stored);
}

}  // namespace exactbloom::sweep
