// WithOptima: the best division of filter memory in the trees of a growing database.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "exactbloom/levels.h"
#include "growth_report.h"
#include "support/own_policy.h"

namespace exactbloom::readamp {
namespace {

// How a policy's filters are divided.
struct Division {
  Layout layout{FilterKind::kClassic, 0};
  BottommostFilter bottommost = BottommostFilter::kBloom;
  std::optional<double> bits_per_key;
  std::uint64_t memory_budget = 0;  // bytes; 0: none

  double WantedBits(std::uint64_t keys) const {
    const double bits = *bits_per_key * static_cast<double>(keys);
    return memory_budget == 0 ? bits : std::min(bits, 8.0 * static_cast<double>(memory_budget));
  }
};

Division DivisionOf(const rocksdb::FilterPolicy* policy) {
  Division division;
  if (policy == nullptr) return division;
  if (const auto* ours = support::OwnPolicy(policy)) {
    const PolicyOptions& options = ours->Options();
    division.layout = ours->Layout();
    division.bottommost = options.bottommost;
    division.memory_budget = options.memory_budget;
    if (options.fpr == 0.0 && options.level_bits.empty()) {
      division.bits_per_key = options.bits_per_key;
    }
    return division;
  }
  const std::string built_in = "bloomfilter:";
  const std::string id = policy->GetId();
  if (id.compare(0, built_in.size(), built_in) == 0) {
    division.bits_per_key = std::strtod(id.c_str() + built_in.size(), nullptr);
  }
  return division;
}

// The least of sum(asked * rate) over the runs has each rate in proportion to keys / asked: for a
// run that covers a part of the key space, the keys that the whole would have at its density. The
// plan is made for these; its total is chosen so that the runs' own keys take `bits`.
std::optional<double> BestWastedReads(const std::vector<GrowthRun>& runs, const Division& division,
                                      double bits) {
  std::vector<const GrowthRun*> asked;
  std::vector<std::uint64_t> whole;
  double keys = 0.0;
  double whole_keys = 0.0;
  for (const GrowthRun& run : runs) {
    if (run.keys == 0 || run.asked == 0.0) continue;
    asked.push_back(&run);
    whole.push_back(
        static_cast<std::uint64_t>(std::llround(static_cast<double>(run.keys) / run.asked)));
    keys += static_cast<double>(run.keys);
    whole_keys += static_cast<double>(whole.back());
  }
  if (asked.empty()) return std::nullopt;

  // A bit more per key is one for each key of either kind, so few rounds are needed.
  constexpr int kRounds = 8;
  constexpr double kClose = 0.0005;
  double total = bits * whole_keys / keys;
  double wasted = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    const auto plan =
        PlanLevels(division.layout, whole, static_cast<std::uint64_t>(total), division.bottommost);
    if (!plan) return std::nullopt;
    double taken = 0.0;
    wasted = 0.0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      taken += static_cast<double>(plan->filters[i].bits) * asked[i]->asked;
      wasted += plan->filters[i].false_positive_rate * asked[i]->asked;
    }
    if (std::abs(bits - taken) <= kClose * bits) break;
    total = std::max(0.0, total + (bits - taken) * whole_keys / keys);
  }
  return wasted;
}

GrowthOptimum OptimumOf(const GrowthPoint& point, const Division& division) {
  GrowthOptimum optimum;
  optimum.present = BestWastedReads(point.runs, division,
                                    8.0 * static_cast<double>(point.Sum(&GrowthRun::filter_bytes)));
  if (division.bits_per_key) {
    optimum.wanted =
        BestWastedReads(point.runs, division, division.WantedBits(point.Sum(&GrowthRun::keys)));
  }
  return optimum;
}

}  // namespace

GrowthResult WithOptima(const std::string& name, const rocksdb::FilterPolicy* policy,
                        const Growth& growth) {
  const Division division = DivisionOf(policy);
  GrowthResult result;
  result.policy = name;
  result.growth = growth;
  for (const GrowthPoint& point : growth.loading) {
    support::CheckForInterrupts();
    result.optima.push_back(OptimumOf(point, division));
  }
  result.optima.push_back(OptimumOf(growth.at_rest, division));
  return result;
}

}  // namespace exactbloom::readamp
