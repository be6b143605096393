#include "growth_optimum.h"

#include <cstddef>
#include <limits>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/policy_options.h"
#include "src/analysis/run_division.h"

namespace exactbloom::readamp {
namespace {

double RateOf(FilterKind kind, bool ribbon, std::uint64_t keys, double bits_per_key) {
  const auto bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys));
  if (ribbon) return RibbonFalsePositiveRate(keys, bits);
  const int probes = OptimalProbes(kind, bits, keys);
  return probes == 0 ? 1.0 : FalsePositiveRate(kind, bits, keys, probes);
}

}  // namespace

double LeastWastedReads(const rocksdb::FilterPolicy* policy, const std::vector<GrowthRun>& runs) {
  const BloomFilterPolicy* ours = BloomFilterPolicy::Of(policy);
  const FilterKind kind = ours == nullptr ? FilterKind::kClassic : FilterKindOf(ours->Options());
  std::vector<const GrowthRun*> asked;
  std::vector<analysis::EqualRuns> divided;
  double bits = 0.0;
  for (const GrowthRun& run : runs) {
    bits += 8.0 * static_cast<double>(run.filter_bytes);
    const auto keys = static_cast<double>(run.keys);
    if (keys == 0.0 || run.asked == 0.0) continue;
    // A run that a part of the lookups ask counts as so much of one that all ask, and that has the
    // keys of the whole key space at the run's density: the keys and the reads are the run's own.
    divided.push_back({keys / run.asked, run.asked});
    asked.push_back(&run);
  }
  if (ours != nullptr && HasRibbon(ours->Options())) analysis::MarkRibbon(divided);
  const std::vector<double> bits_per_key = analysis::DivideAmongRuns(divided, bits);
  double wasted = 0.0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    wasted += asked[i]->asked * RateOf(kind, divided[i].ribbon, asked[i]->keys, bits_per_key[i]);
  }
  return wasted;
}

}  // namespace exactbloom::readamp
