#include "tree_division.h"

#include <algorithm>

#include "../../src/analysis/run_division.h"

namespace exactbloom::tree {
namespace {

constexpr double kBitsPerByte = 8.0;

// What a table gets at least where only the average is exceeded, as a part of its share: tables of
// another policy may hold the bits for long, and small runs are where they are worth most.
constexpr double kLeastPart = 0.6;

// A run that is larger than the table's by more than this keeps its filters for longer than the
// table. Others are written anew before it, or together with it.
constexpr double kMuchLarger = 1.5;

double FilterBits(const RunsOfSize& runs, double bits_of_unknown_key) {
  return kBitsPerByte * runs.filter_bytes + bits_of_unknown_key * runs.unknown_keys;
}

// Small runs will come, at the latest with the next write. If those that are much smaller than the
// table's run have less than `part` of the ninth of its keys that they have in a tree of ratio 10,
// adds what is missing in two runs of that ratio.
void ExpectSmallRuns(double own_keys, double part, std::vector<RunsOfSize>& runs) {
  constexpr double kRatio = 10.0;
  constexpr double kSmall = 0.5;
  double missing = part * own_keys / (kRatio - 1.0);
  for (const RunsOfSize& run : runs) {
    if (run.keys < kSmall * own_keys) missing -= run.keys * run.count;
  }
  if (missing <= 0.0) return;
  const double larger = missing * kRatio / (kRatio + 1.0);
  runs.push_back({larger, 1.0, 0.0, 0.0});
  runs.push_back({missing - larger, 1.0, 0.0, 0.0});
}

double KeysOf(const std::vector<RunsOfSize>& runs) {
  double keys = 0.0;
  for (const RunsOfSize& run : runs) keys += run.keys * run.count;
  return keys;
}

// The keys of the run that a table belongs to; 0: not known.
//   table_keys   0: not known yet
double OwnKeys(const TreeView& view, double table_keys) {
  if (!view.is_flush) return std::max(view.output_keys, table_keys);
  return table_keys > 0.0 ? table_keys : view.typical_flush_keys;
}

}  // namespace

bool TreeDivision::IsRibbon(double run_keys, double all_keys) const {
  return options_.ribbon && run_keys >= analysis::kRibbonLeastPart * all_keys;
}

bool TreeDivision::WantsRibbon(const TreeView& view, double table_keys) const {
  if (!options_.ribbon) return false;
  // The size of a Ribbon filter follows from the keys, which a flush does not know: not under a
  // budget.
  if ((view.is_flush || view.joins_a_run) && HasBudget()) return false;
  const double own_keys = OwnKeys(view, table_keys);
  if (own_keys <= 0.0) return true;
  return IsRibbon(own_keys, KeysOf(RunsBeside(view, own_keys)) + own_keys);
}

std::vector<RunsOfSize> TreeDivision::RunsBeside(const TreeView& view, double own_keys) const {
  // A budget is kept for the growth that is expected.
  const bool leaves_one_run = !view.is_flush && view.live_keys <= own_keys;
  if (leaves_one_run && !HasBudget()) return {};
  std::vector<RunsOfSize> runs = view.other_runs;
  ExpectSmallRuns(own_keys, HasBudget() ? 1.0 : kExpectedPart, runs);
  return runs;
}

TableShare TreeDivision::Share(const TreeView& view, double table_keys) const {
  TableShare share;
  const double own_keys = OwnKeys(view, table_keys);
  if (own_keys <= 0.0) {  // the first flush, or what is taken in is not known
    share.bits_per_key = options_.bits_per_key;
    return share;
  }
  // The run that the table belongs to comes last.
  share.runs = RunsBeside(view, own_keys);
  share.runs.push_back({own_keys, 1.0, 0.0, 0.0});
  const double live_keys = view.live_keys + (view.is_flush ? own_keys : 0.0);
  const double total_bits = Average(view, share.runs, live_keys) * KeysOf(share.runs);
  share.planned = Divide(share.runs, total_bits, /*keeps_larger=*/false);
  const double planned = share.planned.back();
  // Larger runs keep the filters that they have. Without a budget the small ones may exceed the
  // average, since they are rewritten before long.
  const double most = HasBudget() ? 1.0 : kMostOverAverage;
  const double wanted =
      std::min(planned, Divide(share.runs, most * total_bits, /*keeps_larger=*/true).back());

  const double keys_to_write =
      std::max({1.0, table_keys, view.is_flush ? own_keys : view.keys_to_write});
  const double others =
      kBitsPerByte * view.other_filter_bytes + options_.bits_per_key * view.other_unknown_keys;
  const double most_over = HasBudget() ? kMostOverWithBudget : kMostOverAverage;
  const double left = most_over * options_.bits_per_key * live_keys - others;
  share.bits_per_key = std::max(std::min(wanted, left / keys_to_write), kLeastPart * planned);
  if (!HasBudget()) return share;

  // New keys bring their average with them, but nothing to a budget: smaller runs get theirs first.
  const double budget_left = BudgetBits() - others - kBitsPerByte * view.shared_filter_bytes;
  const double fair =
      std::max((budget_left - WantedBySmaller(share)) / keys_to_write, kLeastPart * planned);
  const double rest = budget_left / keys_to_write;
  share.is_over_budget = rest < kLeastBitsPerKey;
  share.bits_per_key = std::min({share.bits_per_key, fair, std::max(rest, kLeastBitsPerKey)});
  return share;
}

double TreeDivision::WantedBySmaller(const TableShare& share) const {
  double wanted = 0.0;
  for (std::size_t i = 0; i + 1 < share.runs.size(); ++i) {
    const RunsOfSize& run = share.runs[i];
    if (run.keys >= share.runs.back().keys) continue;
    const double missing = share.planned[i] * run.keys - FilterBits(run, options_.bits_per_key);
    wanted += run.count * std::max(0.0, missing);
  }
  return wanted;
}

double TreeDivision::BudgetBits() const {
  return kBitsPerByte * static_cast<double>(options_.memory_budget);
}

double TreeDivision::Average(const TreeView& view, const std::vector<RunsOfSize>& runs,
                             double live_keys) const {
  if (!HasBudget()) return options_.bits_per_key;
  // A run is written anew when what is in smaller ones has come down to it. So much the tree grows
  // meanwhile: twice what they hold on average. But a budget is there to be used.
  constexpr double kGrowth = 2.0;
  constexpr double kMostGrowth = 1.0;
  double smaller = 0.0;
  for (const RunsOfSize& run : runs) {
    if (run.keys < runs.back().keys) smaller += run.keys * run.count;
  }
  const double grown_keys = live_keys + std::min(kGrowth * smaller, kMostGrowth * live_keys);
  return std::min(options_.bits_per_key,
                  BudgetBits() / std::max(1.0, grown_keys + view.shared_keys));
}

std::vector<double> TreeDivision::Divide(const std::vector<RunsOfSize>& runs, double total_bits,
                                         bool keeps_larger) const {
  const double all_keys = KeysOf(runs);
  std::vector<analysis::EqualRuns> divided;
  for (const RunsOfSize& run : runs) {
    if (keeps_larger && run.keys > kMuchLarger * runs.back().keys) {
      total_bits -= run.count * FilterBits(run, options_.bits_per_key);
      continue;
    }
    divided.push_back({run.keys, run.count, IsRibbon(run.keys, all_keys)});
  }
  return analysis::DivideAmongRuns(options_.layout, divided, std::max(0.0, total_bits));
}

}  // namespace exactbloom::tree
