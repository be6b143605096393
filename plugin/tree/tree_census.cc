#include "tree_census.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

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

void TreeCensus::Sum::Subtract(const TableCount& count) {
  --tables;
  keys -= count.keys;
  (count.filter_bytes ? filter_bytes : unknown_keys) -= count.filter_bytes.value_or(count.keys);
}

void TreeCensus::Sum::Add(const Sum& other) {
  tables += other.tables;
  keys += other.keys;
  filter_bytes += other.filter_bytes;
  unknown_keys += other.unknown_keys;
}

void TreeCensus::Sum::Subtract(const Sum& part) {
  tables -= std::min(tables, part.tables);
  keys -= std::min(keys, part.keys);
  filter_bytes -= std::min(filter_bytes, part.filter_bytes);
  unknown_keys -= std::min(unknown_keys, part.unknown_keys);
}

std::uint64_t TreeCensus::Changes() const {
  const Lock lock(mutex_);
  return changes_;
}

bool TreeCensus::Look(std::uint64_t changes_before, const std::string& session,
                      const std::map<std::string, std::vector<LiveTable>>& families) {
  const Lock lock(mutex_);
  if (changes_ != changes_before) return false;
  if (session_ != session) {
    jobs_.clear();
    last_job_ = 0;
  }
  session_.clear();
  tables_.clear();
  const auto is_dropped = [&](const std::string& name) { return families.count(name) == 0; };
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    job = is_dropped(job->first.first) ? jobs_.erase(job) : std::next(job);
  }
  for (auto family = families_.begin(); family != families_.end();) {
    family->second.levels.clear();
    family->second.level0_by_size.clear();
    family = is_dropped(family->first) ? families_.erase(family) : std::next(family);
  }
  for (const auto& [name, tables] : families) {
    Family& family = families_[name];
    for (const LiveTable& table : tables) {
      Add(family, table, /*is_from_look=*/true);
      known_early_.erase(table.number);
    }
  }
  // Running jobs may still tell of tables that are gone.
  if (jobs_.empty()) known_early_.clear();
  look_job_ = last_job_;
  session_ = session;
  is_doubtful_ = false;
  is_closed_ = false;
  return true;
}

std::optional<TableCount> TreeCensus::CountOf(std::uint64_t number) const {
  const Lock lock(mutex_);
  const auto known = tables_.find(number);
  if (known == tables_.end() || !known->second.count.filter_bytes) return std::nullopt;
  return known->second.count;
}

bool TreeCensus::HasLooked() const {
  const Lock lock(mutex_);
  return !session_.empty();
}

bool TreeCensus::IsOf(const std::string& session) const {
  const Lock lock(mutex_);
  return session_ == session && !is_closed_;
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
  is_closed_ = true;
}

void TreeCensus::BeginFlush(const std::string& family, JobId job) {
  const Lock lock(mutex_);
  DoubtUnknown(family);
  ForgetOldJobs(family);
  Job begun;
  begun.is_flush = true;
  last_job_ = std::max(last_job_, job);
  jobs_[{family, job}] = begun;
}

void TreeCensus::BeginCompaction(const std::string& family, JobId job, int output_level,
                                 const std::vector<LiveTable>& inputs) {
  const Lock lock(mutex_);
  DoubtUnknown(family);
  Job begun;
  begun.output_level = output_level;
  last_job_ = std::max(last_job_, job);
  for (const LiveTable& input : inputs) {
    const auto known = tables_.find(input.number);
    const bool is_known = known != tables_.end();
    begun.inputs[input.number] = is_known;
    begun.taken.Add(is_known ? known->second.count : input.count);
    if (!is_known) continue;
    const Table& table = known->second;
    // CompactRange may change the level of tables without an event.
    is_doubtful_ = is_doubtful_ || table.level != input.level;
    begun.taken_by_level[table.level].Add(table.count);
    if (table.level == 0) begun.taken_from_level0[SizeClass(table.count.keys)].Add(table.count);
  }
  jobs_[{family, job}] = std::move(begun);
}

bool TreeCensus::AddWritten(const std::string& family, JobId job, TableCount count) {
  const Lock lock(mutex_);
  const auto known = jobs_.find({family, job});
  if (known == jobs_.end() || known->second.is_unheard) return false;
  known->second.written.Add(count);
  return true;
}

void TreeCensus::AddUnheard(const std::string& family, JobId job, const LiveTable& table) {
  const Lock lock(mutex_);
  ++changes_;
  ForgetOldJobs(family);
  Job& unheard = jobs_[{family, job}];
  unheard.is_unheard = true;
  unheard.written.Add(table.count);
  Add(families_[family], table);
}

void TreeCensus::EndJob(const std::string& family, JobId job,
                        const std::vector<LiveTable>& outputs) {
  const Lock lock(mutex_);
  ++changes_;
  Family& tree = families_[family];
  const auto known = jobs_.find({family, job});
  is_doubtful_ = is_doubtful_ || known == jobs_.end();
  const Job ended = known == jobs_.end() ? Job() : std::move(known->second);
  if (known != jobs_.end()) jobs_.erase(known);

  std::unordered_set<std::uint64_t> moved;
  for (const LiveTable& output : outputs) {
    const auto input = ended.inputs.find(output.number);
    if (input == ended.inputs.end()) {
      AddMade(tree, output);
    } else {
      AddMoved(tree, output, input->second);
      moved.insert(output.number);
    }
  }
  for (const auto& [input, was_known] : ended.inputs) {
    if (moved.count(input) != 0 || TakeOut(input)) continue;
    is_doubtful_ = true;
    // Even if it was known by a look: the job that made it may be heard to end later.
    known_early_.insert(input);
    NoteGone(input);
  }
  if (jobs_.empty()) known_early_.clear();
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
  // Of what a job took in, the job's end was heard before.
  if (TakeOut(number)) is_doubtful_ = true;
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

std::vector<TreeCensus::Sum> TreeCensus::Levels(const std::string& family) const {
  const Lock lock(mutex_);
  const auto known = families_.find(family);
  return known == families_.end() ? std::vector<Sum>() : known->second.levels;
}

std::optional<TreeView> TreeCensus::View(const std::string& family, JobId job_id, int level) const {
  const Lock lock(mutex_);
  const auto found = families_.find(family);
  if (session_.empty() || found == families_.end()) return std::nullopt;
  const Family& tree = found->second;
  const auto found_job = jobs_.find({family, job_id});
  const bool is_heard = found_job != jobs_.end() && !found_job->second.is_unheard;
  Job unheard;
  unheard.is_flush = level <= 0;  // a run of its own, too
  unheard.output_level = level;
  unheard.is_unheard = true;
  if (found_job != jobs_.end()) unheard.written = found_job->second.written;
  if (!is_heard && level > 0) TakeAllAbove(tree, unheard);
  const Job& job = is_heard ? found_job->second : unheard;

  TreeView view;
  view.is_flush = job.is_flush;
  view.output_keys = OutputKeys(tree, job);
  view.typical_flush_keys = TypicalFlushKeys(tree);
  AddRunsOfLevel0(tree, job, view);
  AddDeeperRuns(tree, job, view);
  view.keys_to_write = Real(job.taken.keys - std::min(job.taken.keys, job.written.keys));
  const Total others = TotalOf(family, tree, &job);
  view.other_filter_bytes = others.filter_bytes - Real(job.taken.filter_bytes);
  view.other_unknown_keys = others.unknown_keys - Real(job.taken.unknown_keys);
  if (is_heard) {
    view.other_filter_bytes += Real(job.written.filter_bytes);
  } else {
    RemoveTypicalInput(tree, job, view);
  }
  for (const auto& [name, other] : families_) {
    if (&other == &tree || (other.owner != tree.owner && other.owner != kNoOwner)) continue;
    const Total total = TotalOf(name, other, nullptr);
    view.shared_keys += total.keys;
    view.shared_filter_bytes += total.filter_bytes;
  }
  return view;
}

// The mean of level 0. Where that is empty, a quarter of the smallest run: with compaction by
// levels four flushes usually come down together.
double TreeCensus::TypicalFlushKeys(const Family& family) {
  constexpr double kFlushes = 4.0;
  double keys = 0.0;
  for (const Sum& level : family.levels) {
    const bool is_level0 = &level == &family.levels[0];
    if (level.keys == 0) continue;
    if (is_level0) return Real(level.keys) / Real(level.tables);
    keys = keys == 0.0 ? Real(level.keys) : std::min(keys, Real(level.keys));
  }
  return keys / kFlushes;
}

void TreeCensus::AddRunsOfLevel0(const Family& family, const Job& job, TreeView& view) {
  for (const auto& [size, sum] : family.level0_by_size) {
    if (sum.keys == 0) continue;
    const double taken = Real(ValueOf(job.taken_from_level0, size).tables);
    const double share = 1.0 / Real(sum.tables);
    const double keys = Real(sum.keys) * share;
    const double count =
        Real(sum.tables) - (1.0 - PartThatComesAgain(keys, view.output_keys)) * taken;
    if (count <= 0.0) continue;
    const double kept = share * (Real(sum.tables) - taken) / count;
    view.other_runs.push_back(
        {keys, count, Real(sum.filter_bytes) * kept, Real(sum.unknown_keys) * kept});
  }
}

void TreeCensus::AddDeeperRuns(const Family& family, const Job& job, TreeView& view) {
  for (std::size_t i = 0; i < family.levels.size(); ++i) {
    const Sum& sum = family.levels[i];
    view.live_keys += Real(sum.keys);
    const bool is_output = !job.is_flush && static_cast<int>(i) == job.output_level;
    if (i == 0 || is_output || sum.keys == 0) continue;
    const double taken = Real(ValueOf(job.taken_by_level, static_cast<int>(i)).keys);
    const double all = Real(sum.keys);
    const double keys = all - (1.0 - PartThatComesAgain(all, view.output_keys)) * taken;
    if (keys <= 0.0) continue;
    const double kept = std::max(0.0, (all - taken) / all);
    view.other_runs.push_back(
        {keys, 1.0, Real(sum.filter_bytes) * kept, Real(sum.unknown_keys) * kept});
  }
}

// If an unheard job writes into an empty level, all that is above is taken to be its input.
void TreeCensus::TakeAllAbove(const Family& family, Job& job) {
  const auto level = static_cast<std::size_t>(job.output_level);
  if (level < family.levels.size() && family.levels[level].tables > job.written.tables) return;
  for (std::size_t i = 0; i < std::min(level, family.levels.size()); ++i) {
    job.taken_by_level[static_cast<int>(i)] = family.levels[i];
  }
  job.taken_from_level0 = family.level0_by_size;
}

double TreeCensus::OutputKeys(const Family& family, const Job& job) {
  const auto level = static_cast<std::size_t>(job.output_level);
  double keys = 0.0;
  for (const auto& [taken_level, taken] : job.taken_by_level) keys += Real(taken.keys);
  // Inputs that are not known by their level, yet.
  keys = std::max(keys, Real(job.taken.keys));
  if (job.is_flush || level == 0 || level >= family.levels.size()) return keys;
  // What an unheard job wrote is in the tree beside what it takes in.
  const std::uint64_t written = job.is_unheard ? job.written.keys : 0;
  return keys + Real(family.levels[level].keys) - Real(written) -
         Real(ValueOf(job.taken_by_level, job.output_level).keys);
}

TreeCensus::Total TreeCensus::TotalOf(OwnerId owner) const {
  const Lock lock(mutex_);
  Total sum;
  if (session_.empty() || is_closed_) return sum;
  for (const auto& [name, family] : families_) {
    if (family.owner != owner) continue;
    const Total total = TotalOf(name, family, nullptr);
    sum.keys += total.keys;
    sum.filter_bytes += total.filter_bytes;
  }
  return sum;
}

// An unheard job is taken to take in a table for each one that it writes, with as many keys: of its
// level, or if that was empty of those above. The tables are taken to be the mean of these.
void TreeCensus::RemoveTypicalInput(const Family& family, const Job& job, TreeView& view) {
  Sum inputs;
  for (const auto& [level, taken] : job.taken_by_level) inputs.Add(taken);
  const auto level = static_cast<std::size_t>(std::max(0, job.output_level));
  if (inputs.tables == 0 && level < family.levels.size()) {
    // What it wrote is among the live tables.
    inputs = family.levels[level];
    inputs.Subtract(job.written);
  }
  const double keys = Real(inputs.keys);
  if (keys <= 0.0) return;
  view.keys_to_write = keys / Real(inputs.tables);
  const double part = std::min(1.0, (view.keys_to_write + Real(job.written.keys)) / keys);
  view.other_filter_bytes -= part * Real(inputs.filter_bytes);
  view.other_unknown_keys -= part * Real(inputs.unknown_keys);
}

// A flush that wrote nothing ends without an event, and an unheard job always.
void TreeCensus::ForgetOldJobs(const std::string& family) {
  constexpr int kMostJobs = 16;  // at once
  int jobs = 0;
  for (auto job = jobs_.end(); job != jobs_.begin();) {
    --job;
    if (job->first.first != family) continue;
    if (!job->second.is_flush && !job->second.is_unheard) continue;
    if (++jobs >= kMostJobs) job = jobs_.erase(job);
  }
}

// Nothing may have told of its tables: those of an import, for example.
void TreeCensus::DoubtUnknown(const std::string& family) {
  if (families_.count(family) == 0) is_doubtful_ = true;
}

void TreeCensus::AddMade(Family& family, const LiveTable& table) {
  const bool is_early = known_early_.erase(table.number) != 0;
  const auto known = tables_.find(table.number);
  if (known != tables_.end()) {  // a look found it, or a move, which may have been later
    Add(*known->second.family, {known->second.level, table.number, table.count});
  } else if (!is_early) {
    Add(family, table);
  }
}

void TreeCensus::AddMoved(Family& family, const LiveTable& table, bool was_known) {
  if (tables_.count(table.number) == 0) {
    is_doubtful_ = true;
    // A job that took it in was heard to end before.
    if (was_known || !known_early_.insert(table.number).second) return;
  }
  Add(family, table);
}

void TreeCensus::Add(Family& family, const LiveTable& table, bool is_from_look) {
  const auto known = tables_.find(table.number);
  is_from_look = is_from_look || (known != tables_.end() && known->second.is_from_look);
  Remove(table.number);
  const auto level = static_cast<std::size_t>(table.level);
  if (family.levels.size() <= level) family.levels.resize(level + 1);
  if (level == 0) family.level0_by_size[SizeClass(table.count.keys)].Add(table.count);
  tables_[table.number] = {&family, table.level, table.count, is_from_look};
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

// Jobs that moved it, and are heard to end later, must not bring it back.
void TreeCensus::NoteGone(std::uint64_t number) {
  for (auto& [id, job] : jobs_) {
    const auto moved = job.inputs.find(number);
    if (moved != job.inputs.end()) moved->second = true;
  }
}

bool TreeCensus::TakeOut(std::uint64_t number) {
  const auto known = tables_.find(number);
  if (known == tables_.end()) return false;
  const bool is_to_come = known->second.is_from_look &&
                          std::any_of(jobs_.begin(), jobs_.end(), [this](const auto& job) {
                            return job.first.second <= look_job_;
                          });
  if (is_to_come) known_early_.insert(number);
  NoteGone(number);
  return Remove(number);
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
    if (&job == without || id.first != name || job.is_unheard) continue;
    total.filter_bytes +=
        std::max(0.0, Real(job.written.filter_bytes) - Real(job.taken.filter_bytes));
  }
  return total;
}

}  // namespace exactbloom::tree
