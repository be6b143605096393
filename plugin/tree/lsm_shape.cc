#include "lsm_shape.h"

#include <algorithm>
#include <iterator>

namespace exactbloom::tree {
namespace {

using Lock = std::lock_guard<std::mutex>;

// A table of what was promised is there.
void Keep(const TableCount& table, double& promised_bytes) {
  const auto bytes = static_cast<double>(table.filter_bytes.value_or(0));
  promised_bytes = std::max(0.0, promised_bytes - bytes);
}

template <typename Map, typename Predicate>
void EraseIf(Map& map, Predicate predicate) {
  for (auto entry = map.begin(); entry != map.end();) {
    entry = predicate(*entry) ? map.erase(entry) : std::next(entry);
  }
}

}  // namespace

std::uint64_t LsmShape::Changes() const {
  const Lock lock(mutex_);
  return changes_;
}

bool LsmShape::Refresh(std::uint64_t changes_before,
                       const std::map<std::string, std::vector<LiveTable>>& families) {
  const Lock lock(mutex_);
  if (changes_ != changes_before) return false;
  is_loaded_ = false;
  tables_.clear();
  for (auto& [name, family] : families_) family.live.clear();
  // The scan has the tables of unreported jobs if they are live.
  EraseIf(jobs_, [&](const auto& job) {
    return families.count(job.first.first) == 0 || job.second.tallies.is_unreported;
  });
  EraseIf(families_, [&](const auto& family) { return families.count(family.first) == 0; });
  for (const auto& [name, tables] : families) {
    Family& family = families_[name];
    for (const LiveTable& table : tables) Add(family, table);
  }
  SettleLiveOutputs();
  is_loaded_ = true;
  is_stale_ = false;
  return true;
}

void LsmShape::SettleLiveOutputs() {
  std::vector<std::uint64_t> live;
  for (const auto& [id, job] : jobs_) {
    for (const auto& [number, count] : job.written) {
      if (tables_.count(number) != 0) live.push_back(number);
    }
  }
  for (const std::uint64_t number : live) Settle(number);
}

std::optional<TableCount> LsmShape::CountOf(std::uint64_t number) const {
  const Lock lock(mutex_);
  const auto known = tables_.find(number);
  if (known == tables_.end() || !known->second.count.filter_bytes) return std::nullopt;
  return known->second.count;
}

bool LsmShape::IsLoaded() const {
  const Lock lock(mutex_);
  return is_loaded_;
}

bool LsmShape::IsStale() const {
  const Lock lock(mutex_);
  return is_stale_;
}

void LsmShape::MarkStale() {
  const Lock lock(mutex_);
  is_stale_ = true;
}

void LsmShape::Close() {
  const Lock lock(mutex_);
  is_closed_ = true;
}

// A family that no scan has seen may have tables that no event reported, such as imported ones.
LsmShape::Job& LsmShape::Begin(const std::string& family, JobId id) {
  ++changes_;
  if (families_.count(family) == 0) is_stale_ = true;
  last_job_ = std::max(last_job_, id);
  ForgetOldJobs();
  Job& job = jobs_[{family, id}];
  job = Job();
  return job;
}

// Job ids ascend. A flush that wrote nothing fires no end event, and an unreported job none at all.
void LsmShape::ForgetOldJobs() {
  constexpr JobId kOld = 64;
  EraseIf(jobs_, [this](const auto& job) {
    const JobTallies& tallies = job.second.tallies;
    return (tallies.is_flush || tallies.is_unreported) && job.first.second < last_job_ - kOld;
  });
}

void LsmShape::BeginFlush(const std::string& family, JobId job) {
  const Lock lock(mutex_);
  Begin(family, job).tallies.is_flush = true;
}

void LsmShape::BeginCompaction(const std::string& family, JobId job, int output_level,
                               const std::vector<LiveTable>& inputs) {
  const Lock lock(mutex_);
  Job& begun = Begin(family, job);
  begun.tallies.output_level = output_level;
  Family& tree = families_[family];
  for (const LiveTable& input : inputs) TakeInput(tree, begun, input);
}

// The input is live in its level now, whether or not the job that put it there has reported that.
void LsmShape::TakeInput(Family& family, Job& job, const LiveTable& input) {
  const bool was_pending = Settle(input.number);
  const auto known = tables_.find(input.number);
  const bool is_live = known != tables_.end();
  LiveTable table = input;
  if (is_live) table.count = known->second.count;
  if (!is_live || known->second.level != input.level) {
    if (!was_pending) is_stale_ = true;  // CompactRange may change levels without an event
    Add(family, table);
  }
  job.inputs.insert(input.number);
  job.tallies.inputs[RunClassOf(table.level, table.count.keys)].Add(table.count);
}

bool LsmShape::AddWritten(const std::string& family, JobId job, std::uint64_t number,
                          TableCount count) {
  const Lock lock(mutex_);
  const auto known = jobs_.find({family, job});
  if (known == jobs_.end() || known->second.tallies.is_unreported) return false;
  known->second.written[number] = count;
  known->second.tallies.written.Add(count);
  Keep(count, known->second.promised_bytes);
  return true;
}

void LsmShape::AddUnreported(const std::string& family, JobId job, const LiveTable& table) {
  const Lock lock(mutex_);
  ++changes_;
  last_job_ = std::max(last_job_, job);
  ForgetOldJobs();
  Job& unreported = jobs_[{family, job}];
  unreported.tallies.is_unreported = true;
  unreported.tallies.written.Add(table.count);
  unreported.promised_bytes = 0.0;  // nobody will report that the job has ended
  Add(families_[family], table);
}

void LsmShape::EndJob(const std::string& family, JobId job, const std::vector<LiveTable>& outputs) {
  const Lock lock(mutex_);
  ++changes_;
  const auto known = jobs_.find({family, job});
  if (known == jobs_.end()) is_stale_ = true;
  Job ended;
  if (known != jobs_.end()) {
    ended = std::move(known->second);
    jobs_.erase(known);
  }
  Family& tree = families_[family];
  Count(ended, outputs, tree.recent);
  for (const LiveTable& output : outputs) {
    const bool is_moved = ended.inputs.erase(output.number) != 0;
    const bool is_new =
        ended.settled.count(output.number) == 0 && tables_.count(output.number) == 0;
    if (is_moved || is_new) Add(tree, output);
  }
  for (const std::uint64_t input : ended.inputs) Remove(input);
}

void LsmShape::Count(const Job& ended, const std::vector<LiveTable>& outputs, RecentJobs& recent) {
  double keys = 0.0;
  double moved = 0.0;
  for (const LiveTable& table : outputs) {
    keys += static_cast<double>(table.count.keys);
    if (ended.inputs.count(table.number) != 0) moved += static_cast<double>(table.count.keys);
  }
  if (keys == 0.0) return;
  const bool is_from_level0 = TallyOfLevel(ended.tallies.inputs, 0).tables != 0;
  if (ended.tallies.is_flush) {
    recent.AddFlush(keys);
  } else if (is_from_level0) {
    recent.AddCompactionOfLevel0(moved, keys);
  }
}

void LsmShape::CancelJob(const std::string& family, JobId job) {
  const Lock lock(mutex_);
  jobs_.erase({family, job});
}

void LsmShape::Delete(std::uint64_t number) {
  const Lock lock(mutex_);
  ++changes_;
  const bool was_pending = Settle(number);
  if (Remove(number) && !was_pending) is_stale_ = true;
}

void LsmShape::AddIngested(const std::string& family, std::uint64_t number, TableCount count) {
  const Lock lock(mutex_);
  ++changes_;
  is_stale_ = true;
  Tallies& live = families_[family].live;
  const int deepest = live.empty() ? 0 : live.rbegin()->first.first;
  Add(families_[family], {std::max(1, deepest), number, count});
}

void LsmShape::SetPolicy(const std::string& family, PolicyId policy) {
  const Lock lock(mutex_);
  families_[family].policy = policy;
}

std::optional<TreeView> LsmShape::View(const std::string& family, JobId job, int level) const {
  const Lock lock(mutex_);
  const auto found = families_.find(family);
  if (!is_loaded_ || found == families_.end()) return std::nullopt;
  const Family& tree = found->second;
  const auto known = jobs_.find({family, job});
  const Job* const running = known == jobs_.end() ? nullptr : &known->second;
  JobTallies unreported;
  unreported.is_flush = level <= 0;  // a run of its own, too
  unreported.is_unreported = true;
  unreported.output_level = std::max(0, level);
  if (running != nullptr) unreported.written = running->tallies.written;
  const bool is_reported = running != nullptr && !running->tallies.is_unreported;

  TreeView view = ViewOfJob(tree.live, is_reported ? running->tallies : unreported, tree.recent,
                            AddedBy(family, running));
  AddShared(tree, running, view);
  if (running != nullptr) view.promised_bytes = running->promised_bytes;
  return view;
}

void LsmShape::AddShared(const Family& own, const Job* running, TreeView& view) const {
  for (const auto& [name, family] : families_) {
    if (family.policy != own.policy && family.policy != kNoPolicy) continue;
    const Total total = TotalOf(name, family, running);
    view.held_filter_bytes += total.filter_bytes;
    view.held_unknown_keys += total.unknown_keys;
    if (&family == &own) continue;
    const std::vector<RunsOfSize> runs = RunsOf(family.live);
    view.shared_runs.insert(view.shared_runs.end(), runs.begin(), runs.end());
  }
}

// A job that is not known fired no begin event.
LsmShape::Job& LsmShape::FindOrBegin(const std::string& family, JobId id) {
  const auto [job, is_new] = jobs_.try_emplace({family, id});
  if (is_new) job->second.tallies.is_unreported = true;
  return job->second;
}

void LsmShape::SetPromised(const std::string& family, JobId job, double filter_bytes) {
  const Lock lock(mutex_);
  FindOrBegin(family, job).promised_bytes = filter_bytes;
}

void LsmShape::AddPromised(const std::string& family, JobId job, double filter_bytes) {
  const Lock lock(mutex_);
  FindOrBegin(family, job).promised_bytes += filter_bytes;
}

LsmShape::Total LsmShape::TotalOf(PolicyId policy) const {
  Total sum;
  for (const auto& [name, total] : TotalsOf(policy)) {
    sum.keys += total.keys;
    sum.filter_bytes += total.filter_bytes;
    sum.unknown_keys += total.unknown_keys;
  }
  return sum;
}

std::map<std::string, LsmShape::Total> LsmShape::TotalsOf(PolicyId policy) const {
  const Lock lock(mutex_);
  std::map<std::string, Total> totals;
  if (!is_loaded_ || is_closed_) return totals;
  for (const auto& [name, family] : families_) {
    if (family.policy == policy) totals[name] = TotalOf(name, family, nullptr);
  }
  return totals;
}

std::vector<RunsOfSize> LsmShape::RunsOfPolicy(PolicyId policy) const {
  const Lock lock(mutex_);
  std::vector<RunsOfSize> all;
  if (!is_loaded_ || is_closed_) return all;
  for (const auto& [name, family] : families_) {
    if (family.policy != policy) continue;
    const std::vector<RunsOfSize> runs = RunsOf(family.live);
    all.insert(all.end(), runs.begin(), runs.end());
  }
  return all;
}

Tallies LsmShape::TalliesOf(const std::string& family) const {
  const Lock lock(mutex_);
  const auto known = families_.find(family);
  return known == families_.end() ? Tallies() : known->second.live;
}

std::size_t LsmShape::PendingEntries() const {
  const Lock lock(mutex_);
  std::size_t entries = jobs_.size();
  for (const auto& [id, job] : jobs_) {
    entries += job.inputs.size() + job.written.size() + job.settled.size();
  }
  return entries;
}

// Returns whether a running job had still to report the table, as an input or an output.
bool LsmShape::Settle(std::uint64_t number) {
  bool is_pending = false;
  for (auto& [id, job] : jobs_) {
    const auto output = job.written.find(number);
    if (output == job.written.end() && job.inputs.count(number) == 0) continue;
    is_pending = true;
    job.settled.insert(number);
    job.inputs.erase(number);
    if (output == job.written.end()) continue;
    job.tallies.written.Subtract(output->second);
    job.written.erase(output);
  }
  return is_pending;
}

void LsmShape::Add(Family& family, const LiveTable& table) {
  Remove(table.number);
  Tally& tally = family.live[RunClassOf(table.level, table.count.keys)];
  tables_[table.number] = {&family, table.level, table.count};
  tally.Add(table.count);
}

// Returns whether the table was live.
bool LsmShape::Remove(std::uint64_t number) {
  const auto known = tables_.find(number);
  if (known == tables_.end()) return false;
  const Table& table = known->second;
  const auto tally = table.family->live.find(RunClassOf(table.level, table.count.keys));
  tally->second.Subtract(table.count);
  if (tally->second.tables == 0) table.family->live.erase(tally);
  tables_.erase(known);
  return true;
}

// What running jobs add to a family at most: that is if those that add bytes end first.
Tally LsmShape::AddedBy(const std::string& family, const Job* except) const {
  Tally added;
  for (const auto& [id, job] : jobs_) {
    if (&job == except || id.first != family || job.tallies.is_unreported) continue;
    Tally more = job.tallies.written.Filtered();
    more.Subtract(TallyOfAll(job.tallies.inputs).Filtered());
    added.Add(more);
  }
  return added;
}

LsmShape::Total LsmShape::TotalOf(const std::string& name, const Family& family,
                                  const Job* without_promise) const {
  const Tally live = TallyOfAll(family.live);
  Total total = {static_cast<double>(live.keys), static_cast<double>(live.filter_bytes),
                 static_cast<double>(live.unknown_keys)};
  for (const auto& [id, job] : jobs_) {
    if (id.first != name) continue;
    if (&job != without_promise) total.filter_bytes += job.promised_bytes;
    if (job.tallies.is_unreported) continue;  // its tables are live
    total.filter_bytes += static_cast<double>(job.tallies.written.filter_bytes);
  }
  return total;
}

}  // namespace exactbloom::tree
