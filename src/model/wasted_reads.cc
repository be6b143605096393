#include "wasted_reads.h"

#include <algorithm>
#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"

namespace exactbloom::model {
namespace {

constexpr double kBitsPerByte = 8.0;

double RateOf(BloomKind kind, bool ribbon, double keys, double bits_per_key) {
  if (ribbon) return analysis::LargeRibbonRate(bits_per_key);
  const auto bits = static_cast<std::uint64_t>(bits_per_key * keys);
  const auto whole_keys = static_cast<std::uint64_t>(keys);
  const int probes = OptimalProbes(kind, bits, whole_keys);
  return probes == 0 ? 1.0 : FalsePositiveRate(kind, bits, whole_keys, probes);
}

}  // namespace

double AskedOfRun(int level, double tables, double keys, double keys_of_run) {
  return level == 0 || keys_of_run == 0.0 ? tables : keys / keys_of_run;
}

double MoreReads(double before, double then, double present) {
  return (then - before) / (present + before);
}

std::vector<double> PlanRuns(double bits_per_key, const std::vector<analysis::EqualRuns>& runs,
                             const std::optional<double>& bound) {
  double total_bits = 0.0;
  for (const analysis::EqualRuns& run : runs) total_bits += bits_per_key * run.keys * run.count;
  if (bound) total_bits = std::min(total_bits, kBudgetPart * kBitsPerByte * *bound);
  return analysis::DivideAmongRuns(runs, total_bits);
}

double LeastWastedReads(BloomKind kind, bool ribbon, const std::vector<FilteredRun>& runs) {
  std::vector<FilteredRun> asked;
  std::vector<analysis::EqualRuns> divided;
  double bits = 0.0;
  for (const FilteredRun& run : runs) {
    bits += kBitsPerByte * run.filter_bytes;
    if (run.keys == 0.0 || run.asked == 0.0) continue;
    // A run that a part of the lookups ask counts as so much of one that all ask, and that has the
    // keys of the whole key space at the run's density: the keys and the reads are the run's own.
    divided.push_back({run.keys / run.asked, run.asked, ribbon});
    asked.push_back(run);
  }
  const std::vector<double> bits_per_key = analysis::DivideAmongRuns(divided, bits);
  double wasted = 0.0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    wasted += asked[i].asked * RateOf(kind, ribbon, asked[i].keys, bits_per_key[i]);
  }
  return wasted;
}

std::vector<EqualFilters> PartitionsOf(const PartitionedTables& tables, std::uint64_t keys_that_fit,
                                       std::uint64_t index_size) {
  constexpr double kMeanOfLast = 0.5;  // the last data block of a table, as a share of the others
  const double of_table =
      tables.data_blocks > tables.tables
          ? tables.data_blocks / tables.tables - kMeanOfLast
          : std::max(1.0, (tables.data_blocks > 0.0 ? tables.data_blocks : tables.entries) /
                              tables.tables);
  const double entries_of_block = tables.entries / tables.tables / of_table;
  double blocks = std::ceil(static_cast<double>(keys_that_fit) / entries_of_block);
  if (tables.index_bytes > 0.0) {
    const double of_index =
        static_cast<double>(index_size) * tables.data_blocks / tables.index_bytes;
    blocks = std::min(blocks, std::floor(of_index));
  }
  blocks = std::max(1.0, blocks);
  const double full = std::floor(of_table / blocks);
  const double rest = of_table - full * blocks;
  std::vector<EqualFilters> filters;
  // Filters of a mean number of keys that is not whole have one of the two next to it.
  const auto add = [&](double count, double blocks_of_each, double shared_keys) {
    if (count <= 0.0 || blocks_of_each <= 0.0) return;
    const double share = blocks_of_each / of_table;
    const double mean = tables.keys / tables.tables * share +
                        (tables.shares_keys && of_table > blocks ? shared_keys : 0.0);
    const double fewer = std::floor(mean);
    for (const double keys : {fewer, fewer + 1.0}) {
      const double part = keys == fewer ? 1.0 - (mean - fewer) : mean - fewer;
      if (part <= 0.0) continue;
      filters.push_back({count * part, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(keys)),
                         count * part * share / tables.tables});
    }
  };
  add(tables.tables * full, blocks, 2.0);
  add(tables.tables, rest, 1.0);
  return filters;
}

}  // namespace exactbloom::model
