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
double MostBits(PolicyOptions options, const Tree& tree, std::uint64_t memory) {
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

// The plain policy needs no listener, and the other by default no option.
int ComplexityOf(const PolicyOptions& options) {
  if (options.kind != PolicyKind::kExactBloom) return 0;
  return options.ribbon ? 1 : 2;
}

// The kinds of settings that are compared, with what they keep of `base`.
std::vector<PolicyOptions> KindsOfSettings(const Tree& tree, const PolicyOptions& base) {
  std::vector<PolicyOptions> kinds;
  if (!HasBudget(base)) {
    PolicyOptions& plain = kinds.emplace_back(PolicyKind::kClassicBloom);
    plain.lines = base.lines;
    plain.hash_seed = base.hash_seed;
  }
  for (const bool ribbon : {false, true}) {
    if (ribbon ? base.hash_seed != 0 : tree.Runs() < 2) continue;
    PolicyOptions& divided = kinds.emplace_back(PolicyKind::kExactBloom);
    divided.ribbon = ribbon;
    divided.memory_budget = base.memory_budget;
    divided.memory_percent = base.memory_percent;
    divided.budget = base.budget;
    divided.hash_seed = base.hash_seed;
  }
  return kinds;
}

}  // namespace

std::vector<Candidate> FindCandidates(const Tree& tree, const PolicyOptions& base,
                                      std::uint64_t memory) {
  const double unfiltered = [&tree] {
    PolicyOptions none;
    none.bits_per_key = 0.0;
    return SumOf(PredictFilters(none, tree)).wasted_reads;
  }();
  std::vector<Candidate> candidates;
  for (PolicyOptions& options : KindsOfSettings(tree, base)) {
    options.bits_per_key = MostBits(options, tree, memory);
    Candidate candidate{options, FormatPolicy(options), PredictFilters(options, tree), {}};
    candidate.filters = SumOf(candidate.levels);
    if (candidate.filters.wasted_reads < unfiltered) candidates.push_back(std::move(candidate));
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
