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
  if (keys == 0 || !is_flush) keys = std::max(keys, KeysToWrite(family, job, level));
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
  for (auto first = all.begin(); first != all.end();) {
    const Family* const family = first->first.first;
    const std::size_t begin = result.size();
    std::vector<analysis::EqualRuns> marked;
    std::vector<Kinds> of_runs;
    for (; first != all.end() && first->first.first == family; ++first) {
      const SortedRuns& runs = result.emplace_back(first->second.first);
      marked.push_back({Real(runs.keys) / Real(runs.runs), Real(runs.runs)});
      of_runs.push_back(first->second.second);
    }
    if (family->ribbon) analysis::MarkRibbon(marked);
    for (std::size_t i = 0; i < marked.size(); ++i) {
      const Kinds& kinds = of_runs[i];
      result[begin + i].ribbon =
          kinds.known != 0 ? 2 * kinds.ribbon >= kinds.known : marked[i].ribbon;
    }
  }
  return result;
}

std::uint64_t OpenDatabase::MostKeysOf(const std::string& family, int job_id, int level) const {
  const auto found = families_.find(family);
  if (found == families_.end()) return 0;
  const Job* const job = FindJob(family, job_id);
  const std::uint64_t rest = KeysToWrite(found->second, job, level);
  const bool is_whole = job == nullptr || job->is_flush || level == 0;
  return is_whole ? rest : std::min(rest, 2 * job->largest_table);
}

// CompactFiles() reports neither its begin nor its end. It may read all tables down to its level.
RunSums OpenDatabase::InputsOf(const Family& family, const Job* job, int level) {
  if (job != nullptr) return job->inputs;
  if (level == 0) return {};
  return {family.runs.begin(), family.runs.lower_bound({level + 1, 0})};
}

std::uint64_t OpenDatabase::KeysToWrite(const Family& family, const Job* job, int level) {
  if (job == nullptr && level == 0) return family.MeanKeysOfLevel0();
  const std::uint64_t all = job == nullptr ? SumOf(InputsOf(family, job, level)).keys : job->keys;
  const std::uint64_t written = job == nullptr ? family.unreported.keys : job->written.keys;
  return all - std::min(all, written);
}

}  // namespace exactbloom::tree
