#include "tree_view.h"

#include <algorithm>
#include <optional>

#include "../../src/analysis/run_division.h"

namespace exactbloom::tree {
namespace {

double Real(std::uint64_t count) { return static_cast<double>(count); }

Tally Find(const Tallies& tallies, const RunClass& run) {
  const auto found = tallies.find(run);
  return found == tallies.end() ? Tally() : found->second;
}

// Runs like the inputs of a job will be written again until the job is due the next time. If they
// are small beside its output, this part of them exists on average. A large run is only replaced.
double PartThatReturns(double run_keys, double output_keys) {
  constexpr double kPart = 0.4;
  constexpr double kSmall = 0.7;
  return run_keys < kSmall * output_keys ? kPart : 0.0;
}

// By the recent flushes. Before the first one the mean of level 0; if that is empty, a quarter of
// the smallest run: with leveled compaction four flushes are usually compacted together.
double TypicalFlushKeys(const Tallies& live, const RecentJobs& recent) {
  constexpr double kFlushes = 4.0;
  if (recent.flush_keys > 0.0) return recent.flush_keys;
  const Tally level0 = TallyOfLevel(live, 0);
  if (level0.keys != 0) return Real(level0.keys) / Real(level0.tables);
  double smallest = 0.0;
  for (const auto& [run, tally] : live) {
    if (tally.keys == 0) continue;
    smallest = smallest == 0.0 ? Real(tally.keys) : std::min(smallest, Real(tally.keys));
  }
  return smallest / kFlushes;
}

double OutputKeys(const Tallies& live, const JobTallies& job) {
  const double input_keys = Real(TallyOfAll(job.inputs).keys);
  if (job.is_flush || job.output_level == 0) return input_keys;
  Tally kept = TallyOfLevel(live, job.output_level);
  kept.Subtract(TallyOfLevel(job.inputs, job.output_level));
  // An unreported job's finished tables are live beside its inputs.
  if (job.is_unreported) kept.Subtract(job.written);
  return input_keys + Real(kept.keys);
}

// The runs of a class that remain on average. Level 0 loses whole runs, a deeper one a part of its
// keys.
std::optional<RunsOfSize> RemainingRuns(const RunClass& run, const Tally& live, const Tally& inputs,
                                        double output_keys) {
  if (live.keys == 0) return std::nullopt;
  const double number_of_runs = run.first == 0 ? Real(live.tables) : 1.0;
  const double run_keys = Real(live.keys) / number_of_runs;
  const double input_part = run.first == 0 ? Real(inputs.tables) / Real(live.tables)
                                           : Real(inputs.keys) / Real(live.keys);
  const double remains = 1.0 - (1.0 - PartThatReturns(run_keys, output_keys)) * input_part;
  if (remains <= 0.0) return std::nullopt;
  RunsOfSize runs;
  runs.keys = run.first == 0 ? run_keys : run_keys * remains;
  runs.count = run.first == 0 ? number_of_runs * remains : 1.0;
  const double filters = std::max(0.0, 1.0 - input_part) / runs.count;
  runs.filter_bytes = Real(live.filter_bytes) * filters;
  runs.unknown_keys = Real(live.unknown_keys) * filters;
  return runs;
}

void AddOtherRuns(const Tallies& live, const JobTallies& job, TreeView& view) {
  for (const auto& [run, tally] : live) {
    const bool is_output = !job.is_flush && run.first != 0 && run.first == job.output_level;
    if (is_output) continue;
    const auto runs = RemainingRuns(run, tally, Find(job.inputs, run), view.output_keys);
    if (runs) view.other_runs.push_back(*runs);
  }
}

// An unreported job that writes into an empty level is assumed to compact all levels above.
void AssumeInputs(const Tallies& live, JobTallies& job) {
  if (job.is_flush || TallyOfLevel(live, job.output_level).tables > job.written.tables) return;
  job.inputs = Tallies(live.begin(), live.lower_bound({job.output_level, 0}));
}

// An unreported job is assumed to replace one table of its level for each one that it writes, with
// as many keys; or of the levels above, if its level was empty.
void RemoveTypicalInput(const Tallies& live, const JobTallies& job, TreeView& view) {
  Tally inputs = TallyOfAll(job.inputs);
  if (inputs.tables == 0) {
    inputs = TallyOfLevel(live, job.output_level);
    inputs.Subtract(job.written);
  }
  if (inputs.keys == 0) return;
  view.keys_to_write = Real(inputs.keys) / Real(inputs.tables);
  const double part =
      std::min(1.0, (view.keys_to_write + Real(job.written.keys)) / Real(inputs.keys));
  view.other_filter_bytes -= part * Real(inputs.filter_bytes);
  view.other_unknown_keys -= part * Real(inputs.unknown_keys);
}

void ReplaceInputs(const JobTallies& job, TreeView& view) {
  const Tally inputs = TallyOfAll(job.inputs);
  view.keys_to_write = Real(inputs.keys - std::min(inputs.keys, job.written.keys));
  view.other_filter_bytes += Real(job.written.filter_bytes) - Real(inputs.filter_bytes);
  view.other_unknown_keys -= Real(inputs.unknown_keys);
}

// Without the keys of tables that have no filter and are not rewritten by the job, as those of the
// bottommost level under optimize_filters_for_hits: bits that they do not take are not there for
// others.
Tallies WithoutUnfiltered(Tallies live, const JobTallies& job) {
  for (auto& [run, tally] : live) {
    const bool is_rewritten =
        job.inputs.count(run) != 0 || (!job.is_flush && run.first == job.output_level);
    if (!is_rewritten) tally = tally.Filtered();
  }
  return live;
}

// A flushed table that will move down as it is belongs to the largest run from the beginning: no
// key is in any other run's range, too.
void JoinLargestRun(TreeView& view) {
  view.is_flush = false;
  view.joins_a_run = true;
  view.other_runs.clear();
  view.keys_to_write = view.typical_flush_keys;
  view.live_keys += view.typical_flush_keys;
  view.output_keys = view.live_keys;
}

}  // namespace

std::vector<RunsOfSize> RunsOf(const Tallies& live) {
  const double all_keys = Real(TallyOfAll(live).keys);
  std::vector<RunsOfSize> all;
  for (const auto& [run, tally] : live) {
    std::optional<RunsOfSize> runs = RemainingRuns(run, tally.Filtered(), Tally(), 0.0);
    if (!runs) continue;
    runs->is_large = runs->keys >= analysis::kRibbonLeastPart * all_keys;
    all.push_back(*runs);
  }
  return all;
}

void RecentJobs::AddFlush(double keys) {
  flush_keys = flush_keys == 0.0 ? keys : (flush_keys + keys) / 2.0;
}

void RecentJobs::AddCompactionOfLevel0(double moved_keys, double all_keys) {
  moved_part = (moved_part + moved_keys / all_keys) / 2.0;
}

TreeView ViewOfJob(const Tallies& all_live, const JobTallies& given_job, const RecentJobs& recent,
                   const Tally& added_by_others) {
  JobTallies job = given_job;
  if (job.is_unreported) AssumeInputs(all_live, job);
  const Tallies live = WithoutUnfiltered(all_live, job);
  const Tally all = TallyOfAll(live);
  TreeView view;
  view.is_flush = job.is_flush;
  view.typical_flush_keys = TypicalFlushKeys(live, recent);
  view.output_keys = OutputKeys(live, job);
  AddOtherRuns(live, job, view);
  view.live_keys = Real(all.keys + added_by_others.keys);
  view.other_filter_bytes = Real(all.filter_bytes + added_by_others.filter_bytes);
  view.other_unknown_keys = Real(all.unknown_keys);
  if (job.is_unreported) {
    RemoveTypicalInput(live, job, view);
  } else {
    ReplaceInputs(job, view);
  }
  constexpr double kMostMoves = 0.5;
  if (job.is_flush && recent.moved_part > kMostMoves) JoinLargestRun(view);
  return view;
}

}  // namespace exactbloom::tree
