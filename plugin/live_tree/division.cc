#include "division.h"

#include <algorithm>

namespace exactbloom::tree {
namespace {

constexpr double kBitsPerByte = 8.0;

double SumKeys(const std::vector<analysis::EqualRuns>& runs) {
  double keys = 0.0;
  for (const analysis::EqualRuns& run : runs) keys += run.keys * run.count;
  return keys;
}

// Returns the bytes that a table may take of what is left, of which it has taken some.
double UsableBytes(double room, double taken, double bound) {
  return std::max({0.0, kLeastOfRoom * (room + taken) - taken, room - kForOthers * bound});
}

// Returns the most bits per key that a budget leaves for a table.
double LeftBy(const BudgetView& budget, const TreeView& view) {
  const double room = std::max(0.0, kFill * budget.bound - budget.held);
  const double left =
      UsableBytes(room, budget.taken, budget.bound) / std::max(1.0, budget.keys_to_write);
  if (view.input_filter_bytes == 0.0) return kBitsPerByte * left;
  const double written = view.written_filter_bytes + budget.taken;
  const double repeatable =
      UsableBytes(room + view.input_filter_bytes + written, 0.0, budget.bound) / 2.0 - written;
  return kBitsPerByte *
         std::min(left, std::max(0.0, repeatable) / std::max(1.0, view.keys_to_write));
}

// Returns the bits per key of a run's floor, as far as other floors leave them.
double Floor(const DivisionOptions& options, const Share& share, const BudgetView& budget) {
  if (share.planned.empty()) return 0.0;
  const bool is_small = share.runs.back().keys <= kSmallPart * SumKeys(share.runs);
  if (!is_small) return 0.0;
  const double left = std::max(0.0, kFloors * budget.bound - budget.of_floors);
  return std::min({share.planned.back(), options.bits_per_key,
                   kBitsPerByte * left / std::max(1.0, budget.keys_to_write)});
}

}  // namespace

double DividedBytes(const DivisionOptions& options, std::uint64_t keys,
                    std::uint64_t filter_bytes) {
  constexpr double kTrailerBytes = 20.0;
  constexpr double kSmallBytes = 5.0 * kLineBytes + kTrailerBytes;
  constexpr double kMeanRounding = 32.0;  // of the arrays of larger Bloom filters
  const auto bytes = static_cast<double>(filter_bytes);
  const double beside = kTrailerBytes + (options.ribbon ? 0.0 : kMeanRounding);
  const double average = options.bits_per_key * static_cast<double>(keys) / kBitsPerByte;
  return bytes <= kSmallBytes ? std::min(bytes, average) : bytes - beside;
}

std::vector<double> PlanRuns(double bits_per_key, const std::vector<analysis::EqualRuns>& runs,
                             const std::optional<double>& bound) {
  double total_bits = bits_per_key * SumKeys(runs);
  if (bound) total_bits = std::min(total_bits, kBudgetPart * kBitsPerByte * *bound);
  return analysis::DivideAmongRuns(runs, total_bits);
}

Share Divide(const DivisionOptions& options, const TreeView& view,
             const std::optional<BudgetView>& budget) {
  Share share;
  share.bits_per_key = options.bits_per_key;
  if (view.own_keys > 0.0) {
    share.runs = view.other_runs;
    share.runs.push_back({view.own_keys, 1.0, options.ribbon});
    const double most_bits = (options.bits_per_key + kMostOverAverage) * SumKeys(share.runs);

    std::vector<analysis::EqualRuns> all;
    if (budget) all = budget->other_runs;
    all.insert(all.end(), share.runs.begin(), share.runs.end());
    const std::vector<double> divided =
        PlanRuns(options.bits_per_key, all, budget ? std::optional(budget->bound) : std::nullopt);
    share.planned.assign(divided.end() - static_cast<std::ptrdiff_t>(share.runs.size()),
                         divided.end());

    const double planned = share.planned.back();
    const double left =
        (most_bits - kBitsPerByte * view.other_filter_bytes) / std::max(1.0, view.keys_to_write);
    share.bits_per_key =
        std::max(std::min(planned, left), std::min(kLeastPart * planned, options.bits_per_key));
  }
  if (!budget) return share;
  const double wanted = share.bits_per_key;
  share.most_bits_per_key = LeftBy(*budget, view);
  const double floor = std::min(wanted, Floor(options, share, *budget));
  share.is_budget_spent = share.most_bits_per_key < std::min(1.0, wanted);
  share.is_spent_by_inputs =
      share.is_budget_spent && kBitsPerByte * view.input_filter_bytes >= view.keys_to_write;
  share.is_floor = floor > share.most_bits_per_key;
  share.most_bits_per_key = std::max(share.most_bits_per_key, floor);
  share.bits_per_key = std::min(wanted, share.most_bits_per_key);
  return share;
}

}  // namespace exactbloom::tree
