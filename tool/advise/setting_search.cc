#include <algorithm>
#include <cmath>

#include "advise.h"
#include "plugin/allocation/allocation.h"
#include "plugin/policy_options.h"

namespace exactbloom::tool {
namespace {

constexpr double kStepsPerBit = 1000.0;  // more digits of bits per key make no difference

// The most bits per key, in whole steps, for which the filters take at most `memory` bytes; 0 if
// there is no such number.
double MostBits(BloomFilterPolicyOptions options, const Tree& tree, std::uint64_t memory) {
  int fits = 0;
  int too_many = static_cast<int>(kMaxBitsPerKey * kStepsPerBit);
  while (too_many - fits > 1) {
    const int middle = fits + (too_many - fits) / 2;
    options.bits_per_key = middle / kStepsPerBit;
    (SumOf(PredictFilters(options, tree)).bytes <= memory ? fits : too_many) = middle;
  }
  if (!FollowsTree(options)) return fits / kStepsPerBit;
  // A rebuild leaves room for runs that are still to come, which the next writes may fill.
  const double average = 8.0 * static_cast<double>(memory) / static_cast<double>(tree.Keys());
  return std::min(static_cast<double>(fits), std::floor(average * kStepsPerBit)) / kStepsPerBit;
}

// How many options a setting has beside bits_per_key.
int ComplexityOf(const BloomFilterPolicyOptions& options) {
  return (options.size_ratio != 0.0 ? 1 : 0) +
         (options.bottommost == BottommostFilter::kRibbon ? 1 : 0);
}

// `base` without all that says how large filters are, and of which kind.
BloomFilterPolicyOptions KeptOptions(const BloomFilterPolicyOptions& base) {
  BloomFilterPolicyOptions kept;
  kept.lines = base.lines;
  kept.memory_budget = base.memory_budget;
  kept.hash_seed = base.hash_seed;
  return kept;
}

}  // namespace

std::vector<Candidate> FindCandidates(const Tree& tree, const BloomFilterPolicyOptions& base,
                                      std::uint64_t memory) {
  const double unfiltered = [&tree] {
    BloomFilterPolicyOptions none;
    none.bits_per_key = 0.0;
    return SumOf(PredictFilters(none, tree)).wasted_reads;
  }();
  const bool may_be_ribbon = tree.FiltersDeepest() && base.hash_seed == 0;
  std::vector<Candidate> candidates;
  for (const BottommostFilter bottommost : {BottommostFilter::kBloom, BottommostFilter::kRibbon}) {
    for (const double size_ratio : {0.0, kAutoSizeRatio}) {
      if (bottommost == BottommostFilter::kRibbon && !may_be_ribbon) continue;
      if (size_ratio != 0.0 && tree.Runs() < 2) continue;
      Candidate candidate;
      candidate.options = KeptOptions(base);
      candidate.options.size_ratio = size_ratio;
      candidate.options.bottommost = bottommost;
      candidate.options.bits_per_key = MostBits(candidate.options, tree, memory);
      candidate.policy = FormatPolicy(FilterKind::kClassic, candidate.options);
      candidate.levels = PredictFilters(candidate.options, tree);
      candidate.filters = SumOf(candidate.levels);
      if (candidate.filters.wasted_reads < unfiltered) candidates.push_back(std::move(candidate));
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& one, const auto& other) {
    return one.filters.wasted_reads < other.filters.wasted_reads;
  });
  return candidates;
}

std::size_t Choose(const std::vector<Candidate>& candidates) {
  const double most = candidates.front().filters.wasted_reads * (1.0 + kWorthwhileGain);
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const bool is_simpler =
        ComplexityOf(candidates[i].options) < ComplexityOf(candidates[best].options);
    if (is_simpler && candidates[i].filters.wasted_reads <= most) best = i;
  }
  return best;
}

}  // namespace exactbloom::tool
