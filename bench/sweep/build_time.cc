#include "build_time.h"

#include <algorithm>
#include <memory>

#include "equal_memory.h"
#include "plugin/filter_bits_interface.h"
#include "plugin/level_allocation.h"
#include "support/machine.h"

namespace exactbloom::sweep {
namespace {

// Adds the keys up to `last` and finishes the filter.
void BuildFilter(const std::vector<std::string>& keys, const std::string& last, std::size_t& next,
                 rocksdb::FilterBitsBuilder& builder) {
  for (; next < keys.size() && keys[next] <= last; ++next) builder.AddKey(keys[next]);
  std::unique_ptr<const char[]> filter;
  builder.Finish(&filter);
}

void BuildFilters(const rocksdb::FilterPolicy& policy, const readamp::TableList& tables,
                  const KeysOfRuns& runs) {
  const rocksdb::BlockBasedTableOptions options = EqualMemoryTableOptions();
  int run = -1;
  std::size_t next = 0;
  for (const readamp::Table& table : tables) {
    if (table.sorted_run != run) next = 0;
    run = table.sorted_run;
    const int levels = tables.Levels();
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy.GetBuilderWithContext(
        CompactionContext(options, levels, table.level, table.level == levels - 1)));
    if (builder == nullptr) continue;
    const auto& keys = runs[static_cast<std::size_t>(run)];
    for (std::size_t i = 0; i + 1 < table.filter_blocks.size(); ++i) {
      BuildFilter(keys, table.filter_blocks[i].last_key, next, *builder);
    }
    BuildFilter(keys, table.largest, next, *builder);
  }
}

}  // namespace

KeysOfRuns SortedKeys(const readamp::KeySet& keys, const readamp::TableList& tables) {
  KeysOfRuns sorted(static_cast<std::size_t>(tables.SortedRuns()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const int run = tables.SortedRunOf(i);
    if (run != readamp::kAbsent) sorted[static_cast<std::size_t>(run)].push_back(keys.Key(i));
  }
  for (auto& run : sorted) std::sort(run.begin(), run.end());
  return sorted;
}

double FilterBuildNanoseconds(const rocksdb::FilterPolicy* policy, const readamp::TableList& tables,
                              const KeysOfRuns& runs) {
  if (policy == nullptr || tables.empty()) return 0.0;
  std::size_t keys = 0;
  for (const auto& run : runs) keys += run.size();
  const double before = support::ProcessCpuMicroseconds();
  BuildFilters(*policy, tables, runs);
  return 1e3 * (support::ProcessCpuMicroseconds() - before) / static_cast<double>(keys);
}

}  // namespace exactbloom::sweep
