#include "division.h"

#include <algorithm>
#include <cmath>

#include "../../src/model/wasted_reads.h"

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
  const double for_filters = std::max(0.0, budget.bound - budget.index_bytes);
  const double room = std::max(0.0, kFill * budget.bound - budget.index_bytes - budget.held);
  const double left =
      UsableBytes(room, budget.taken, for_filters) / std::max(1.0, budget.keys_to_write);
  if (view.input_filter_bytes == 0.0) return kBitsPerByte * left;
  const double written = view.written_filter_bytes + budget.taken;
  const double repeatable =
      UsableBytes(room + view.input_filter_bytes + written, 0.0, for_filters) / 2.0 - written;
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

std::uint64_t CountedBits(const DivisionOptions& options, std::uint64_t keys,
                          std::uint64_t filter_bytes, std::uint64_t beside_bytes) {
  constexpr double kSmallBytes = 5.0 * kLineBytes;
  constexpr double kMeanRounding = 32.0;  // of the arrays of larger Bloom filters
  const double bytes = static_cast<double>(filter_bytes) - static_cast<double>(beside_bytes);
  const double average = options.bits_per_key * static_cast<double>(keys);
  const double bits = bytes <= kSmallBytes
                          ? std::min(kBitsPerByte * bytes, average)
                          : kBitsPerByte * (bytes - (options.ribbon ? 0.0 : kMeanRounding));
  return static_cast<std::uint64_t>(std::max(0.0, bits));
}

Share Divide(const DivisionOptions& options, const TreeView& view,
             std::vector<analysis::EqualRuns> beside, const std::optional<double>& budget) {
  Share share;
  share.bits_per_key = options.bits_per_key;
  if (view.own_keys <= 0.0) return share;
  share.runs = view.other_runs;
  share.runs.push_back({view.own_keys, 1.0, options.ribbon});
  const double keys = SumKeys(share.runs);
  const bool is_small = view.rewrites_tables && view.own_keys <= kSmallRun * keys;
  const double most_bits = (options.bits_per_key + kMostOverAverage +
                            (is_small ? kMostOfSmallRuns * options.bits_per_key : 0.0)) *
                           keys;

  beside.insert(beside.end(), share.runs.begin(), share.runs.end());
  const std::vector<double> divided = model::PlanRuns(options.bits_per_key, beside, budget);
  share.planned.assign(divided.end() - static_cast<std::ptrdiff_t>(share.runs.size()),
                       divided.end());

  const double planned = share.planned.back();
  const double left = (most_bits - view.other_filter_bits) / std::max(1.0, view.keys_to_write);
  share.bits_per_key =
      std::max(std::min(planned, left), std::min(kLeastPart * planned, options.bits_per_key));
  return share;
}

void Limit(const DivisionOptions& options, const TreeView& view, const BudgetView& budget,
           Share& share) {
  const double wanted = share.bits_per_key;
  share.most_bits_per_key = LeftBy(budget, view);
  const double floor = std::min(wanted, Floor(options, share, budget));
  share.is_budget_spent = share.most_bits_per_key < std::min(1.0, wanted);
  share.is_spent_by_inputs =
      share.is_budget_spent && kBitsPerByte * view.input_filter_bytes >= view.keys_to_write;
  share.is_floor = floor > share.most_bits_per_key;
  share.most_bits_per_key = std::max(share.most_bits_per_key, floor);
  share.bits_per_key = std::min(wanted, share.most_bits_per_key);
}

double BitsOfRecovered(double bits_per_key, double keys) {
  constexpr double kMostMore = 8.0;
  constexpr double kMostBits = 4'096.0;
  constexpr double kFewKeys = 262'144.0;
  return bits_per_key +
         std::clamp(std::log2(kFewKeys / keys), 0.0, std::min(kMostMore, kMostBits / keys));
}

}  // namespace exactbloom::tree
