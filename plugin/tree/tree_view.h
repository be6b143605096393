// The tree of a column family as a job that writes tables sees it.
//
// A filter is built once and stays as long as its table, while the tree keeps changing. So the view
// has the runs that the tree will have on average until it is in the same state again: the job's
// output, the runs that the job leaves alone, and a part of its inputs, since runs like them will
// be written again.
#pragma once

#include <vector>

#include "table_count.h"

namespace exactbloom::tree {

// Sorted runs of about the same size.
struct RunsOfSize {
  double keys = 0.0;  // of each run
  double count = 1.0;
  // Of each run, as far as it exists: the bytes of its filters, and the keys of those of its tables
  // whose filter size is unknown.
  double filter_bytes = 0.0;
  double unknown_keys = 0.0;
  bool is_large = false;  // of another family: at least kRibbonLeastPart of its keys
};

struct TreeView {
  bool is_flush = false;     // each table of a flush is a run of its own
  bool joins_a_run = false;  // a flush whose table will move into the largest run as it is
  std::vector<RunsOfSize> other_runs;
  double output_keys = 0.0;         // of the run that a compaction writes into, when it has ended
  double typical_flush_keys = 0.0;  // of a flush whose keys are not known yet; 0: the tree is empty

  double live_keys = 0.0;      // of the family
  double keys_to_write = 0.0;  // of a compaction, about
  // The bytes of filters when the job has ended, without those that it has still to write: the most
  // that it can be, in whatever order the running jobs end.
  double other_filter_bytes = 0.0;
  double other_unknown_keys = 0.0;  // beside: of tables whose filter size is unknown

  // Of the memory budget that the family shares with others, if there is one:
  double budget_bytes = 0.0;            // 0: no limit
  std::vector<RunsOfSize> shared_runs;  // of all other families
  // Bytes of filters of all that share it, without those that the job has still to write: of live
  // tables, inputs of running jobs among them, and of tables in the making.
  double held_filter_bytes = 0.0;
  double held_unknown_keys = 0.0;  // beside: of tables whose filter size is unknown
  double promised_bytes = 0.0;     // of what the job has still to write, by its last decision
};

struct JobTallies {
  bool is_flush = false;
  // The job fires no begin and end events (CompactFiles). Its finished tables count as live at
  // once, and its inputs until they are deleted.
  bool is_unreported = false;
  int output_level = 0;
  Tallies inputs;
  Tally written;
};

// What a family's last jobs did: means in which each job counts as much as all before it.
struct RecentJobs {
  double flush_keys = 0.0;  // 0: there was no flush
  // The part of level 0 that moved to the next level without being rewritten, as tables of
  // ascending keys do.
  double moved_part = 0.0;

  void AddFlush(double keys);
  void AddCompactionOfLevel0(double moved_keys, double all_keys);
};

// Returns the view of a job without what concerns its budget.
//   live               the live tables of the family, including the inputs of the job
//   added_by_others    keys and filter bytes that other running jobs add to the family at most
TreeView ViewOfJob(const Tallies& live, const JobTallies& job, const RecentJobs& recent,
                   const Tally& added_by_others);

// Returns the sorted runs of a family with the filters that they have.
std::vector<RunsOfSize> RunsOf(const Tallies& live);

}  // namespace exactbloom::tree
