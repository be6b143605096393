#include "tree_division.h"

#include <algorithm>

#include "../../src/analysis/run_division.h"

namespace exactbloom::tree {
namespace {

constexpr double kBitsPerByte = 8.0;

// What a table gets at least where only the average is exceeded, as a part of its share: tables of
// another policy may hold the bits for long, and small runs are where they are worth most.
constexpr double kLeastPart = 0.6;

}  // namespace

TableShare TreeDivision::Share(const TreeView& view, double table_keys, double growth) const {
  TableShare share;
  // The run that the table belongs to comes last.
  share.runs = view.other_runs;
  const double own_keys = !view.is_flush     ? std::max(view.output_keys, table_keys)
                          : table_keys > 0.0 ? table_keys
                                             : view.typical_flush_keys;
  if (own_keys <= 0.0) {  // the first flush
    share.bits_per_key = options_.bits_per_key;
    return share;
  }
  share.runs.push_back({own_keys, 1.0});
  double expected_keys = 0.0;
  for (const RunsOfSize& run : share.runs) expected_keys += run.keys * run.count;

  const double live_keys = view.live_keys + (view.is_flush ? own_keys : 0.0);
  const double grown_keys =
      live_keys + std::clamp(expected_keys - live_keys, 0.0, growth * live_keys);
  const double budget_bits = kBitsPerByte * static_cast<double>(options_.memory_budget);
  double average = options_.bits_per_key;
  if (options_.memory_budget != 0) {
    average = std::min(average, budget_bits / std::max(1.0, grown_keys + view.shared_keys));
  }

  const auto largest = std::max_element(
      share.runs.begin(), share.runs.end(),
      [](const RunsOfSize& one, const RunsOfSize& other) { return one.keys < other.keys; });
  using analysis::RateCurve;
  const RateCurve& bloom = RateCurve::OfBloom(options_.layout);
  std::vector<analysis::EqualRuns> runs;
  for (const RunsOfSize& run : share.runs) {
    const bool is_ribbon =
        options_.bottommost == BottommostFilter::kRibbon && &run == &*largest && run.count == 1.0;
    runs.push_back({run.keys, run.count, is_ribbon ? &RateCurve::OfRibbon() : &bloom,
                    is_ribbon ? analysis::RibbonOverheadOfCurve(run.keys) : 1.0});
  }
  share.planned = analysis::DivideAmongRuns(runs, average * expected_keys);

  const double planned = share.planned.back();
  const double keys_to_write =
      std::max({1.0, table_keys, view.is_flush ? own_keys : view.keys_to_write});
  const double others =
      kBitsPerByte * view.other_filter_bytes + options_.bits_per_key * view.other_unknown_keys;
  const double within_average =
      (kMostOverAverage * options_.bits_per_key * live_keys - others) / keys_to_write;
  share.bits_per_key = std::min(planned, std::max(within_average, kLeastPart * planned));
  if (options_.memory_budget == 0) return share;
  const double left =
      (budget_bits - others - kBitsPerByte * view.shared_filter_bytes) / keys_to_write;
  share.is_over_budget = left < kLeastBitsPerKey;
  share.bits_per_key = std::min(share.bits_per_key, std::max(left, kLeastBitsPerKey));
  return share;
}

}  // namespace exactbloom::tree
