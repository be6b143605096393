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

// The part of a budget that a job leaves to those that begin while it runs, unless that is more
// than what is left for all but one of so many jobs.
constexpr double kForOthers = 0.3;
constexpr double kJobs = 4.0;

// By how much more keys a tree has when its runs are written anew, about.
constexpr double kGrowth = 1.2;

// The bits of the filters of a run. Where they are not known yet, it has what is planned.
double FilterBits(const RunsOfSize& run, double planned) {
  return kBitsPerByte * run.filter_bytes + planned * run.unknown_keys;
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

bool HasBudget(const TreeView& view) { return view.budget_bytes != 0.0; }

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
  if ((view.is_flush || view.joins_a_run) && HasBudget(view)) return false;
  const double own_keys = OwnKeys(view, table_keys);
  if (own_keys <= 0.0) return true;
  return IsRibbon(own_keys, KeysOf(RunsBeside(view, own_keys)) + own_keys);
}

std::vector<RunsOfSize> TreeDivision::RunsBeside(const TreeView& view, double own_keys) const {
  // A budget is kept for the growth that is expected.
  const bool leaves_one_run = !view.is_flush && view.live_keys <= own_keys;
  if (leaves_one_run && !HasBudget(view)) return {};
  std::vector<RunsOfSize> runs = view.other_runs;
  ExpectSmallRuns(own_keys, HasBudget(view) ? 1.0 : kExpectedPart, runs);
  return runs;
}

TreeDivision::Runs TreeDivision::RunsOf(const TreeView& view, double own_keys) const {
  std::vector<RunsOfSize> family = RunsBeside(view, own_keys);
  family.push_back({own_keys, 1.0, 0.0, 0.0});
  const double family_keys = KeysOf(family);
  Runs all;
  for (const RunsOfSize& runs : view.shared_runs) {
    all.push_back({runs, options_.ribbon && runs.is_large});
  }
  for (const RunsOfSize& runs : family) all.push_back({runs, IsRibbon(runs.keys, family_keys)});
  return all;
}

TableShare TreeDivision::Share(const TreeView& view, double table_keys) const {
  TableShare share;
  const double own_keys = OwnKeys(view, table_keys);
  if (own_keys <= 0.0) {  // the first flush, or what is taken in is not known
    share.bits_per_key = options_.bits_per_key;
    return share;
  }
  share.keys_to_write = std::max({1.0, table_keys, view.is_flush ? own_keys : view.keys_to_write});
  const double keys_to_write = share.keys_to_write;
  const Runs runs = RunsOf(view, own_keys);
  double all_keys = 0.0;
  for (const Run& run : runs) all_keys += run.runs.keys * run.runs.count;
  const double live_keys = view.live_keys + (view.is_flush ? own_keys : 0.0);
  const double total_bits = Average(view, runs, live_keys, keys_to_write) * all_keys;
  const std::vector<double> all_planned = Divide(runs, total_bits);
  const std::size_t shared = view.shared_runs.size();
  for (std::size_t i = shared; i < runs.size(); ++i) share.runs.push_back(runs[i].runs);
  share.planned.assign(all_planned.begin() + static_cast<std::ptrdiff_t>(shared),
                       all_planned.end());
  const double planned = share.planned.back();
  // Larger runs keep the filters that they have. Without a budget the small ones may exceed the
  // average, since they are rewritten before long.
  const double most = HasBudget(view) ? 1.0 : kMostOverAverage;
  const double wanted =
      std::min(planned, DivideWhatLargerLeave(runs, all_planned, most * total_bits));

  const double others =
      kBitsPerByte * view.other_filter_bytes + options_.bits_per_key * view.other_unknown_keys;
  const double most_over = HasBudget(view) ? kMostOverWithBudget : kMostOverAverage;
  const double left = most_over * options_.bits_per_key * live_keys - others;
  share.bits_per_key = std::max(std::min(wanted, left / keys_to_write), kLeastPart * planned);
  if (!HasBudget(view)) return share;

  // New keys bring their average with them, but nothing to a budget: smaller runs get theirs first.
  const double budget_left = BitsLeft(view);
  const double fair = std::max((budget_left - WantedBySmaller(runs, all_planned)) / keys_to_write,
                               kLeastPart * planned);
  // What is there may exceed the budget, but what is new never does so first.
  const bool is_exceeded = view.held_filter_bytes > view.budget_bytes;
  // While a large job runs others end, whose runs are small and need few bytes, but these badly.
  const double for_others = kForOthers * kBitsPerByte * view.budget_bytes;
  const double usable = std::max(budget_left / kJobs, budget_left - for_others);
  const double rest = is_exceeded ? kLeastBitsPerKey : std::max(0.0, usable / keys_to_write);
  share.is_over_budget = rest <= kLeastBitsPerKey;
  share.bits_per_key = std::min({share.bits_per_key, fair, rest});
  return share;
}

double TreeDivision::BitsLeft(const TreeView& view) const {
  // Tables whose filters are not known yet were made under this budget, or others of its size: they
  // have an average of it, or somewhat more.
  constexpr double kSafe = 1.1;
  const double budget_bits = kFill * kBitsPerByte * view.budget_bytes;
  double all_keys = view.live_keys + KeysOf(view.shared_runs);
  const double unknown_bits =
      std::min(options_.bits_per_key, kSafe * budget_bits / std::max(1.0, kGrowth * all_keys));
  return budget_bits - kBitsPerByte * view.held_filter_bytes -
         unknown_bits * view.held_unknown_keys;
}

double TreeDivision::WantedBySmaller(const Runs& runs, const std::vector<double>& planned) {
  double wanted = 0.0;
  for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
    const RunsOfSize& run = runs[i].runs;
    if (run.keys >= runs.back().runs.keys) continue;
    const double missing = planned[i] * run.keys - FilterBits(run, planned[i]);
    wanted += run.count * std::max(0.0, missing);
  }
  return wanted;
}

double TreeDivision::Average(const TreeView& view, const Runs& runs, double live_keys,
                             double keys_to_write) const {
  if (!HasBudget(view)) return options_.bits_per_key;
  // A run is written anew when what is in smaller ones has come down to it. So much the tree grows
  // meanwhile: twice what they hold on average. And then its old filters and its new ones are
  // there, both.
  constexpr double kMostGrowth = 1.0;
  double smaller = 0.0;
  for (const Run& run : runs) {
    if (run.runs.keys < runs.back().runs.keys) smaller += run.runs.keys * run.runs.count;
  }
  const double all_keys = live_keys + KeysOf(view.shared_runs);
  const double grown_keys = all_keys + std::min(3.0 * smaller, kMostGrowth * all_keys);
  const double replaced = view.is_flush ? 0.0 : keys_to_write;
  return std::min(options_.bits_per_key,
                  kFill * kBitsPerByte * view.budget_bytes / std::max(1.0, grown_keys + replaced));
}

std::vector<double> TreeDivision::Divide(const Runs& runs, double total_bits) const {
  std::vector<analysis::EqualRuns> divided;
  for (const auto& [run, ribbon] : runs) divided.push_back({run.keys, run.count, ribbon});
  return analysis::DivideAmongRuns(options_.layout, divided, std::max(0.0, total_bits));
}

double TreeDivision::DivideWhatLargerLeave(const Runs& runs, const std::vector<double>& planned,
                                           double total_bits) const {
  Runs divided;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunsOfSize& run = runs[i].runs;
    if (run.keys > kMuchLarger * runs.back().runs.keys) {
      total_bits -= run.count * FilterBits(run, planned[i]);
    } else {
      divided.push_back(runs[i]);
    }
  }
  return Divide(divided, total_bits).back();
}

}  // namespace exactbloom::tree
