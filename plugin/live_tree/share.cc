#include "share.h"

#include <algorithm>

namespace exactbloom::tree {
namespace {

constexpr double kBitsPerByte = 8.0;

double KeysOf(const std::vector<analysis::EqualRuns>& runs) {
  double keys = 0.0;
  for (const analysis::EqualRuns& run : runs) keys += run.keys * run.count;
  return keys;
}

// The most bits per key that a budget leaves for a table.
double LeftBy(const BudgetView& budget) {
  const double room = std::max(0.0, kFill * budget.bound - budget.held);
  const double least = kLeastOfRoom * (room + budget.taken) - budget.taken;
  const double usable = std::max({0.0, least, room - kForOthers * budget.bound});
  return kBitsPerByte * usable / std::max(1.0, budget.keys_to_write);
}

}  // namespace

Share ShareOf(const DivisionOptions& options, const TreeView& view,
              const std::optional<BudgetView>& budget) {
  Share share;
  share.bits_per_key = options.bits_per_key;
  if (view.own_keys > 0.0) {
    share.runs = view.other_runs;
    share.runs.push_back({view.own_keys, 1.0, options.ribbon});
    const double most_bits = (options.bits_per_key + kMostOverAverage) * KeysOf(share.runs);

    std::vector<analysis::EqualRuns> all;
    if (budget) all = budget->other_runs;
    all.insert(all.end(), share.runs.begin(), share.runs.end());
    double total_bits = options.bits_per_key * KeysOf(all);
    if (budget) total_bits = std::min(total_bits, kBudgetPart * kBitsPerByte * budget->bound);
    const std::vector<double> divided = analysis::DivideAmongRuns(all, total_bits);
    share.planned.assign(divided.end() - static_cast<std::ptrdiff_t>(share.runs.size()),
                         divided.end());

    const double planned = share.planned.back();
    const double left =
        (most_bits - kBitsPerByte * view.other_filter_bytes) / std::max(1.0, view.keys_to_write);
    share.bits_per_key =
        std::max(std::min(planned, left), std::min(kLeastPart * planned, options.bits_per_key));
  }
  if (budget) {
    share.most_bits_per_key = LeftBy(*budget);
    share.is_budget_spent =
        share.most_bits_per_key < 1.0 && share.most_bits_per_key < share.bits_per_key;
    share.bits_per_key = std::min(share.bits_per_key, share.most_bits_per_key);
  }
  return share;
}

}  // namespace exactbloom::tree
