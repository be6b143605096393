#include "growth_optimum.h"

#include <algorithm>
#include <cmath>

#include "exactbloom/levels.h"
#include "tool/support/own_policy.h"

namespace exactbloom::readamp {

// The least of sum(asked * rate) over the runs has each rate in proportion to keys / asked: for a
// run that covers a part of the key space, the keys that the whole would have at its density. The
// plan is made for these; its total is chosen so that the runs' own keys take their bits.
std::optional<double> LeastWastedReads(const rocksdb::FilterPolicy* policy,
                                       const std::vector<GrowthRun>& runs) {
  std::vector<const GrowthRun*> asked;
  std::vector<std::uint64_t> whole;
  double bits = 0.0;
  double keys = 0.0;
  double whole_keys = 0.0;
  for (const GrowthRun& run : runs) {
    bits += 8.0 * static_cast<double>(run.filter_bytes);
    if (run.keys == 0 || run.asked == 0.0) continue;
    asked.push_back(&run);
    whole.push_back(
        static_cast<std::uint64_t>(std::llround(static_cast<double>(run.keys) / run.asked)));
    keys += static_cast<double>(run.keys);
    whole_keys += static_cast<double>(whole.back());
  }
  if (asked.empty()) return std::nullopt;

  const auto* ours = policy == nullptr ? nullptr : support::OwnPolicy(policy);
  const Layout layout = ours == nullptr ? Layout(FilterKind::kClassic, 0) : ours->Layout();
  const BottommostFilter bottommost =
      ours == nullptr ? BottommostFilter::kBloom : ours->Options().bottommost;
  // A bit more per key is one for each key of either kind, so few rounds are needed.
  constexpr int kRounds = 8;
  constexpr double kClose = 0.0005;
  double total = bits * whole_keys / keys;
  double wasted = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    const auto plan = PlanLevels(layout, whole, static_cast<std::uint64_t>(total), bottommost);
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

}  // namespace exactbloom::readamp
