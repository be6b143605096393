#include "tree_census.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace exactbloom::tree {
namespace {

using Lock = std::lock_guard<std::mutex>;

// Tables of level 0 whose keys differ by less than a tenth count as equal.
int SizeClass(std::uint64_t keys) {
  constexpr double kClassesPerDoubling = 8.0;
  return static_cast<int>(kClassesPerDoubling * std::log2(static_cast<double>(keys + 1)));
}

double Real(std::uint64_t count) { return static_cast<double>(count); }

template <typename Map, typename Key>
typename Map::mapped_type ValueOf(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type() : found->second;
}

// What a job takes in comes again until it is run the next time: on average this part is there, if
// the runs are small beside the one that it writes. A large run is only replaced by the output.
double PartThatComesAgain(double run_keys, double output_keys) {
  constexpr double kPart = 0.4;
  constexpr double kSmall = 0.7;
  return run_keys < kSmall * output_keys ? kPart : 0.0;
}

}  // namespace

void TreeCensus::Sum::Add(const TableCount& count) {
  ++tables;
  keys += count.keys;
  (count.filter_bytes ? filter_bytes : unknown_keys) += count.filter_bytes.value_or(count.keys);
}

void TreeCensus::Sum::Add(const Sum& other) {
  tables += other.tables;
  keys += other.keys;
  filter_bytes += other.filter_bytes;
  unknown_keys += other.unknown_keys;
}

void TreeCensus::Sum::Subtract(const TableCount& count) {
  --tables;
  keys -= count.keys;
  (count.filter_bytes ? filter_bytes : unknown_keys) -= count.filter_bytes.value_or(count.keys);
}

std::uint64_t TreeCensus::Changes() const {
  const Lock lock(mutex_);
  return changes_;
}

bool TreeCensus::Look(std::uint64_t changes_before, const std::string& session,
                      const std::map<std::string, std::vector<LiveTable>>& families) {
  const Lock lock(mutex_);
  if (changes_ != changes_before) return false;
  if (session_ != session) jobs_.clear();
  session_.clear();
  tables_.clear();
  gone_early_.clear();
  for (auto& [name, family] : families_) {
    family.levels.clear();
    family.level0_by_size.clear();
  }
  for (const auto& [name, tables] : families) {
    Family& family = families_[name];
    for (const LiveTable& table : tables) Add(family, table);
  }
  session_ = session;
  is_doubtful_ = false;
  return true;
}

std::optional<TableCount> TreeCensus::CountOf(std::uint64_t number) const {
  const Lock lock(mutex_);
  const auto known = tables_.find(number);
  if (known == tables_.end() || !known->second.count.filter_bytes) return std::nullopt;
  return known->second.count;
}

bool TreeCensus::IsOf(const std::string& session) const {
  const Lock lock(mutex_);
  return session_ == session;
}

bool TreeCensus::IsDoubtful() const {
  const Lock lock(mutex_);
  return is_doubtful_;
}

void TreeCensus::Doubt() {
  const Lock lock(mutex_);
  is_doubtful_ = true;
}

void TreeCensus::Close() {
  const Lock lock(mutex_);
  session_.clear();
}

void TreeCensus::BeginFlush(const std::string& family, JobId job) {
  const Lock lock(mutex_);
  ForgetOldJobs(family);
  Job begun;
  begun.is_flush = true;
  jobs_[{family, job}] = begun;
}

void TreeCensus::BeginCompaction(const std::string& family, JobId job, int output_level,
                                 const std::vector<LiveTable>& inputs) {
  const Lock lock(mutex_);
  Job begun;
  begun.output_level = output_level;
  for (const LiveTable& input : inputs) {
    begun.inputs.push_back(input.number);
    const auto known = tables_.find(input.number);
    const bool is_known = known != tables_.end();
    begun.taken.Add(is_known ? known->second.count : input.count);
    if (!is_known) continue;
    const Table& table = known->second;
    begun.taken_by_level[table.level].Add(table.count);
    if (table.level == 0) begun.taken_from_level0[SizeClass(table.count.keys)].Add(table.count);
  }
  jobs_[{family, job}] = std::move(begun);
}

void TreeCensus::BeginUnannounced(const std::string& family, JobId job, int output_level) {
  const Lock lock(mutex_);
  if (jobs_.count({family, job}) != 0 || output_level < 0) return;
  ForgetOldJobs(family);
  Family& tree = families_[family];
  const auto level = static_cast<std::size_t>(output_level);
  const bool is_empty = level >= tree.levels.size() || tree.levels[level].tables == 0;
  Job begun;
  begun.is_unannounced = true;
  begun.output_level = output_level;
  for (std::size_t i = is_empty ? 0 : level; i <= level && i < tree.levels.size(); ++i) {
    begun.taken_by_level[static_cast<int>(i)] = tree.levels[i];
    begun.taken.Add(tree.levels[i]);
    if (i == 0) begun.taken_from_level0 = tree.level0_by_size;
  }
  begun.output_keys = OutputKeys(tree, begun);
  begun.others = TotalOf(family, tree, nullptr);
  jobs_[{family, job}] = std::move(begun);
}

void TreeCensus::AddWritten(const std::string& family, JobId job, std::uint64_t number,
                            TableCount count) {
  const Lock lock(mutex_);
  const auto known = jobs_.find({family, job});
  if (known == jobs_.end()) return;
  known->second.written.Add(count);
  if (!known->second.is_unannounced) return;
  ++changes_;
  is_doubtful_ = true;
  Add(families_[family], {known->second.output_level, number, count});
}

void TreeCensus::EndJob(const std::string& family, JobId job,
                        const std::vector<LiveTable>& outputs) {
  const Lock lock(mutex_);
  ++changes_;
  std::vector<LiveTable> live;
  for (const LiveTable& output : outputs) {
    if (gone_early_.erase(output.number) == 0) live.push_back(output);
  }
  const auto known = jobs_.find({family, job});
  if (known != jobs_.end()) {
    for (const std::uint64_t input : known->second.inputs) {
      if (!Remove(input)) gone_early_.insert(input);
    }
    jobs_.erase(known);
  }
  Family& tree = families_[family];
  for (const LiveTable& table : live) Add(tree, table);
}

void TreeCensus::CancelJob(const std::string& family, JobId job) {
  const Lock lock(mutex_);
  jobs_.erase({family, job});
}

void TreeCensus::CancelJobs() {
  const Lock lock(mutex_);
  jobs_.clear();
}

void TreeCensus::Delete(std::uint64_t number) {
  const Lock lock(mutex_);
  ++changes_;
  Remove(number);
}

void TreeCensus::AddIngested(const std::string& family, std::uint64_t number, TableCount count) {
  const Lock lock(mutex_);
  ++changes_;
  is_doubtful_ = true;
  Family& tree = families_[family];
  const std::size_t deepest = tree.levels.empty() ? 1 : tree.levels.size() - 1;
  Add(tree, {static_cast<int>(deepest), number, count});
}

void TreeCensus::SetOwner(const std::string& family, OwnerId owner) {
  const Lock lock(mutex_);
  families_[family].owner = owner;
}

std::optional<TreeView> TreeCensus::View(const std::string& family, JobId job_id) const {
  const Lock lock(mutex_);
  const auto found_job = jobs_.find({family, job_id});
  const auto found = families_.find(family);
  if (session_.empty() || found_job == jobs_.end() || found == families_.end()) return std::nullopt;
  const Job& job = found_job->second;
  const Family& tree = found->second;

  TreeView view;
  view.is_flush = job.is_flush;
  view.output_keys = job.is_unannounced ? job.output_keys : OutputKeys(tree, job);
  for (const auto& [size, sum] : tree.level0_by_size) {
    if (sum.keys == 0) continue;
    const double taken = Real(ValueOf(job.taken_from_level0, size).tables);
    const double share = 1.0 / Real(sum.tables);
    const double keys = Real(sum.keys) * share;
    const double count =
        Real(sum.tables) - (1.0 - PartThatComesAgain(keys, view.output_keys)) * taken;
    if (count <= 0.0) continue;
    view.other_runs.push_back(
        {keys, count, Real(sum.filter_bytes) * share, Real(sum.unknown_keys) * share});
  }
  for (std::size_t level = 0; level < tree.levels.size(); ++level) {
    const Sum& sum = tree.levels[level];
    view.live_keys += Real(sum.keys);
    if (sum.tables == 0) continue;
    const double taken = Real(ValueOf(job.taken_by_level, static_cast<int>(level)).keys);
    if (level == 0) {
      view.typical_flush_keys = Real(sum.keys) / Real(sum.tables);
    } else if (job.is_flush || static_cast<int>(level) != job.output_level) {
      const double all = Real(sum.keys);
      const double keys = all - (1.0 - PartThatComesAgain(all, view.output_keys)) * taken;
      const double share = keys / std::max(1.0, Real(sum.keys));
      if (keys > 0.0) {
        view.other_runs.push_back(
            {keys, 1.0, Real(sum.filter_bytes) * share, Real(sum.unknown_keys) * share});
      }
    }
  }
  view.keys_to_write = Real(job.taken.keys);
  if (!job.is_unannounced) {
    view.keys_to_write -= Real(std::min(job.taken.keys, job.written.keys));
  }
  const Total others = job.is_unannounced ? job.others : TotalOf(family, tree, &job);
  view.other_filter_bytes =
      others.filter_bytes + Real(job.written.filter_bytes) - Real(job.taken.filter_bytes);
  view.other_unknown_keys = others.unknown_keys - Real(job.taken.unknown_keys);
  for (const auto& [name, other] : families_) {
    if (&other == &tree || (other.owner != tree.owner && other.owner != kNoOwner)) continue;
    const Total total = TotalOf(name, other, nullptr);
    view.shared_keys += total.keys;
    view.shared_filter_bytes += total.filter_bytes;
  }
  return view;
}

double TreeCensus::OutputKeys(const Family& family, const Job& job) const {
  const auto level = static_cast<std::size_t>(job.output_level);
  double keys = Real(job.taken.keys);
  if (level == 0 || level >= family.levels.size()) return keys;
  return keys + Real(family.levels[level].keys) -
         Real(ValueOf(job.taken_by_level, job.output_level).keys);
}

TreeCensus::Total TreeCensus::TotalOf(OwnerId owner) const {
  const Lock lock(mutex_);
  Total sum;
  if (session_.empty()) return sum;
  for (const auto& [name, family] : families_) {
    if (family.owner != owner) continue;
    const Total total = TotalOf(name, family, nullptr);
    sum.keys += total.keys;
    sum.filter_bytes += total.filter_bytes;
  }
  return sum;
}

// So do flushes that wrote nothing, and unannounced jobs.
void TreeCensus::ForgetOldJobs(const std::string& family) {
  constexpr int kMostAtOnce = 16;
  int jobs = 0;
  for (auto job = jobs_.end(); job != jobs_.begin();) {
    --job;
    const bool may_have_ended = job->second.is_flush || job->second.is_unannounced;
    if (job->first.first != family || !may_have_ended) continue;
    if (++jobs >= kMostAtOnce) job = jobs_.erase(job);
  }
}

void TreeCensus::Add(Family& family, const LiveTable& table) {
  Remove(table.number);  // a look may have found it before the event came
  const auto level = static_cast<std::size_t>(table.level);
  if (family.levels.size() <= level) family.levels.resize(level + 1);
  if (level == 0) family.level0_by_size[SizeClass(table.count.keys)].Add(table.count);
  tables_[table.number] = {&family, table.level, table.count};
  family.levels[level].Add(table.count);
}

bool TreeCensus::Remove(std::uint64_t number) {
  const auto known = tables_.find(number);
  if (known == tables_.end()) return false;
  const Table& table = known->second;
  table.family->levels[static_cast<std::size_t>(table.level)].Subtract(table.count);
  if (table.level == 0) {
    const auto same = table.family->level0_by_size.find(SizeClass(table.count.keys));
    same->second.Subtract(table.count);
    if (same->second.tables == 0) table.family->level0_by_size.erase(same);
  }
  tables_.erase(known);
  return true;
}

// The live tables, and what running jobs but one add to them, if those that add most end first.
TreeCensus::Total TreeCensus::TotalOf(const std::string& name, const Family& family,
                                      const Job* without) const {
  Total total;
  for (const Sum& sum : family.levels) {
    total.keys += Real(sum.keys);
    total.filter_bytes += Real(sum.filter_bytes);
    total.unknown_keys += Real(sum.unknown_keys);
  }
  for (const auto& [id, job] : jobs_) {
    if (&job == without || job.is_unannounced || id.first != name) continue;
    total.filter_bytes +=
        std::max(0.0, Real(job.written.filter_bytes) - Real(job.taken.filter_bytes));
  }
  return total;
}

}  // namespace exactbloom::tree
