#include "wasted_reads.h"

#include <algorithm>

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

std::vector<EqualFilters> PartitionsOf(std::uint64_t tables, std::uint64_t keys,
                                       std::uint64_t entries, std::uint64_t most_entries) {
  const double entries_per_key =
      std::max(1.0, static_cast<double>(entries) / static_cast<double>(keys));
  const std::uint64_t most_keys = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(static_cast<double>(most_entries) / entries_per_key));
  const std::uint64_t full = keys / tables / most_keys;
  const std::uint64_t keys_in_full = tables * full * most_keys;
  std::vector<EqualFilters> filters;
  if (full != 0) filters.push_back({tables * full, keys_in_full});
  if (keys != keys_in_full) filters.push_back({tables, keys - keys_in_full});
  return filters;
}

}  // namespace exactbloom::model
