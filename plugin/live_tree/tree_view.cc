// What a table in the making, or a reader of metrics, sees of the tree.
#include <algorithm>

#include "open_database.h"

namespace exactbloom::tree {
namespace {

// From which part on of level 0 that moves down as it is, tables of ascending keys are expected.
constexpr double kMovesDown = 0.5;

}  // namespace

TreeView OpenDatabase::ViewOf(const std::string& name, int job_id, int level,
                              std::uint64_t keys) const {
  TreeView view;
  const auto found = families_.find(name);
  if (found == families_.end()) return view;
  const Family& family = found->second;
  const Job* const job = FindJob(name, job_id);
  const bool is_flush = job == nullptr ? level == 0 : job->is_flush;
  const int output_level = job == nullptr ? level : job->output_level;
  RunSums without = InputsOf(family, job, level);
  const TableSum live = family.Sum();
  const TableSum written = job == nullptr ? family.unreported : job->written;
  if (!is_flush) keys = std::max(keys, KeysToWrite(family, job, level));
  view.keys_to_write = Real(keys);
  view.other_filter_bytes =
      Real(live.filter_bytes + written.filter_bytes) - Real(SumOf(without).filter_bytes);
  // A flushed table that will move down as it is belongs to the largest run from the beginning: no
  // key is in any other run's range, too.
  if (is_flush && family.moved_part > kMovesDown) {
    view.own_keys = Real(live.keys + keys);
    return view;
  }
  view.own_keys = Real(keys + (is_flush ? 0 : written.keys));
  if (!is_flush && output_level != 0) {
    const std::pair<int, int> output(output_level, 0);
    const TableSum run = SumIn(family.runs, output);
    TableSum kept = run;
    kept.Subtract(SumIn(without, output));
    view.own_keys += Real(kept.keys);
    without[output].Add(run);
  }
  view.other_runs = family.Runs(without);
  return view;
}

std::vector<SortedRuns> OpenDatabase::ListRuns() const {
  struct Kinds {
    std::uint64_t known = 0;  // keys of tables whose kind of filter is known
    std::uint64_t ribbon = 0;
  };
  using Place = std::pair<const Family*, std::pair<int, int>>;
  std::map<Place, std::pair<SortedRuns, Kinds>> all;
  for (const auto& [number, table] : tables_) {
    if (table.state != State::kLive) continue;
    auto& [runs, kinds] = all[{table.family, ClassOf(table.level, table.keys)}];
    runs.column_family = table.family->name;
    runs.level = table.level;
    runs.tables += 1;
    runs.runs = table.level == 0 ? runs.tables : 1;
    runs.keys += table.keys;
    runs.filter_bytes += table.filter_bytes;
    kinds.known += table.ribbon ? table.keys : 0;
    kinds.ribbon += table.ribbon.value_or(false) ? table.keys : 0;
  }
  std::vector<SortedRuns> result;
  for (const auto& [place, sums] : all) {
    const auto& [runs, kinds] = sums;
    result.push_back(runs);
    result.back().ribbon = kinds.known != 0 ? 2 * kinds.ribbon >= kinds.known : place.first->ribbon;
  }
  return result;
}

// CompactFiles() reports neither its begin nor its end. It may read all tables down to its level.
RunSums OpenDatabase::InputsOf(const Family& family, const Job* job, int level) {
  if (job != nullptr) return job->inputs;
  if (level == 0) return {};
  return {family.runs.begin(), family.runs.lower_bound({level + 1, 0})};
}

std::uint64_t OpenDatabase::KeysToWrite(const Family& family, const Job* job, int level) {
  const std::uint64_t all = job == nullptr ? SumOf(InputsOf(family, job, level)).keys : job->keys;
  const std::uint64_t written = job == nullptr ? family.unreported.keys : job->written.keys;
  return all - std::min(all, written);
}

}  // namespace exactbloom::tree
