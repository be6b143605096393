#include "growth_optimum.h"

#include <cstddef>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "plugin/allocation/allocation.h"
#include "src/analysis/run_division.h"
#include "tool/support/own_policy.h"

namespace exactbloom::readamp {
namespace {

// Whether the policy gives the run Ribbon filters: a policy that follows the tree to each run with
// a part of the keys, another one to the bottommost run.
std::vector<bool> WhichAreRibbon(const BloomFilterPolicy* policy,
                                 const std::vector<GrowthRun>& runs) {
  std::vector<bool> ribbon(runs.size(), false);
  if (policy == nullptr || !HasRibbon(policy->Options())) {
    return ribbon;
  }
  double keys = 0.0;
  for (const GrowthRun& run : runs) keys += static_cast<double>(run.keys);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ribbon[i] = FollowsTree(policy->Options())
                    ? static_cast<double>(runs[i].keys) >= tree::kRibbonLeastPart * keys
                    : i + 1 == runs.size();
  }
  return ribbon;
}

double RateOf(Layout layout, bool ribbon, std::uint64_t keys, double bits_per_key) {
  const auto bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys));
  if (ribbon) return RibbonFalsePositiveRate(keys, bits);
  const std::uint64_t whole = bits / layout.Granularity() * layout.Granularity();
  const int probes = OptimalProbes(layout, whole, keys);
  return probes == 0 ? 1.0 : FalsePositiveRate(layout, whole, keys, probes);
}

}  // namespace

double LeastWastedReads(const rocksdb::FilterPolicy* policy, const std::vector<GrowthRun>& runs) {
  const BloomFilterPolicy* ours = support::OwnPolicy(policy);
  const Layout layout =
      ours == nullptr ? Layout(FilterKind::kClassic, 0) : LayoutOf(ours->Options());
  const std::vector<bool> ribbon = WhichAreRibbon(ours, runs);
  std::vector<std::size_t> asked;
  std::vector<analysis::EqualRuns> divided;
  double bits = 0.0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    bits += 8.0 * static_cast<double>(runs[i].filter_bytes);
    const auto keys = static_cast<double>(runs[i].keys);
    if (keys == 0.0 || runs[i].asked == 0.0) continue;
    // A run that a part of the lookups ask counts as so much of one that all ask, and that has the
    // keys of the whole key space at the run's density: the keys and the reads are the run's own.
    const double share = runs[i].asked;
    divided.push_back(
        {keys / share, share,
         ribbon[i] ? &analysis::RateCurve::OfRibbon() : &analysis::RateCurve::OfBloom(layout),
         ribbon[i] ? analysis::RibbonOverheadOfCurve(keys) : 1.0});
    asked.push_back(i);
  }
  const std::vector<double> bits_per_key = analysis::DivideAmongRuns(divided, bits);
  double wasted = 0.0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const GrowthRun& run = runs[asked[i]];
    wasted += run.asked * RateOf(layout, ribbon[asked[i]], run.keys, bits_per_key[i]);
  }
  return wasted;
}

}  // namespace exactbloom::readamp
