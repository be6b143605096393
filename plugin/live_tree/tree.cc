#include "tree.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "../../src/model/sorted_runs.h"
#include "exactbloom/layout.h"

namespace exactbloom::tree {
namespace {

constexpr JobId kUntoldJob = -2;  // reads what a listing marks, and no known job reads
constexpr std::size_t kErased = 16'384;
constexpr std::size_t kRemoved = 1'024;
// If more of level 0 than this moves down as it is, flushed tables are expected to do so.
constexpr double kMovesDown = 0.5;

using RunSums = std::vector<std::pair<Place, TableSum>>;

// Adds to the last sum if that is of the same run, or of runs of the same size.
void AddRun(const Place& place, const TableSum& sum, RunSums& runs) {
  const bool is_new = runs.empty() || runs.back().first.level != place.level ||
                      runs.back().first.size_class != place.size_class;
  if (is_new) runs.emplace_back(place, TableSum());
  runs.back().second.Add(sum);
}

analysis::EqualRuns Equal(const Place& place, const TableSum& sum, bool ribbon) {
  const double count = place.level == 0 ? Real(sum.tables) : 1.0;
  return {Real(sum.keys) / count, count, ribbon};
}

}  // namespace

void TableSum::Add(const TableSum& more, bool subtracts) {
  for (const auto member :
       {&TableSum::keys, &TableSum::filter_bytes, &TableSum::index_bytes, &TableSum::filter_bits,
        &TableSum::floor_bytes, &TableSum::tables, &TableSum::without_filter}) {
    this->*member += subtracts ? std::uint64_t{0} - more.*member : more.*member;
  }
}

void Table::Learn(const TableFacts& more) {
  if (facts.source != Source::kProperties && more.source >= facts.source) facts = more;
}

void Table::Settle() {
  constexpr double kClassesPerBit = 4.0;
  constexpr double kMostBits = 1000.0;         // which few keys may have
  constexpr std::uint64_t kNoFilterBytes = 6;  // of a block that lets all keys pass
  const DivisionOptions& options = tree->Options();
  if (facts.source != Source::kNothing) {
    if (facts.source == Source::kAssumed) {
      facts.filter_bytes =
          static_cast<std::uint64_t>(options.bits_per_key * Real(facts.keys) / 8.0);
    }
    sum.keys = facts.keys;
    sum.index_bytes = facts.index_bytes;
    sum.filter_bytes = facts.filter_bytes;
    if (!is_sized) {
      sum.filter_bits = CountedBits(options, facts.keys, facts.filter_bytes, facts.beside_bytes);
    }
  }
  if (!is_sized) place.ribbon = options.ribbon;
  const double bits = 8.0 * Real(sum.filter_bytes);
  const double keys = Real(sum.keys);
  sum.tables = 1;
  const bool lets_all_pass = bits < kMinBitsPerKey * keys || sum.filter_bytes <= kNoFilterBytes;
  sum.without_filter = place.is_live && keys != 0.0 && lets_all_pass ? 1 : 0;
  place.is_written = facts.source != Source::kNothing;
  place.size_class = model::SizeClass(place.level, keys);
  // RocksDB asks no policy for a table that gets no filter, and lookups ask none of no key.
  const bool is_asked = keys != 0.0 && bits != 0.0;
  place.bits_class =
      is_asked ? static_cast<int>(kClassesPerBit * std::min(bits / keys, kMostBits)) : -1;
}

const Table* Tables::Find(std::uint64_t number) const {
  const auto found = tables_.find(number);
  return found == tables_.end() ? nullptr : &found->second;
}

// Adds the table if it is not known. All that may throw comes before the first change.
template <typename Function>
void Tables::Change(std::uint64_t number, Tree& tree, Function change) {
  const Table* const known = Find(number);
  Table changed = known == nullptr ? Table() : *known;
  changed.tree = &tree;
  change(changed);
  changed.Settle();
  TableSum& sum = tree.sums_[changed.place];
  const auto table = tables_.try_emplace(number).first;
  sum.Add(changed.sum);
  tree.all_.Add(changed.sum);
  if (known != nullptr) Subtract(*known);
  table->second = changed;
}

void Tables::Subtract(const Table& table) {
  const auto sum = table.tree->sums_.find(table.place);
  sum->second.Add(table.sum, /*subtracts=*/true);
  if (sum->second.tables == 0) table.tree->sums_.erase(sum);
  table.tree->all_.Add(table.sum, /*subtracts=*/true);
}

Tables::Iterator Tables::Remove(Iterator table) {
  try {
    if (table->second.facts.source == Source::kProperties) {
      removed_[table->first] = table->second.facts;
    }
    if (removed_.size() > kRemoved) removed_.erase(removed_.begin());
  } catch (const std::bad_alloc&) {
    // A listing estimates it then, and the table is removed all the same.
  }
  Subtract(table->second);
  return tables_.erase(table);
}

void Tables::Erase(std::uint64_t number) {
  const auto table = tables_.find(number);
  if (table != tables_.end()) Remove(table);
  removed_.erase(number);
  erased_.insert(number);
  if (erased_.size() > kErased) erased_.erase(erased_.begin());
}

void Tables::Drop(std::uint64_t number) {
  const Table* const table = Find(number);
  const bool is_live = table != nullptr && table->place.is_live;
  if (is_live && !table->tree->IsRunning(table->place.job)) MarkStale();
  Erase(number);
}

void Tables::Reserve(std::uint64_t number, const TableSum& amount, bool is_ribbon) {
  const Table* const known = Find(number);
  if (known == nullptr || known->place.is_live || known->place.is_written) return;
  Change(number, *known->tree, [&](Table& table) {
    table.sum = amount;
    table.place.ribbon = is_ribbon;
    table.is_sized = true;
  });
}

void Tables::Forget(Tree& tree) {
  tree.is_forgotten_ = true;
  for (auto table = tables_.begin(); table != tables_.end();) {
    table = table->second.tree == &tree ? Remove(table) : std::next(table);
  }
}

void Tables::BeginListing() {
  is_stale_ = false;
  ++moment_;
}

void Tables::TakeOver(const NamedFile& file, Tree& tree, bool is_being_compacted) {
  const Table* const known = Find(file.number);
  const bool is_live = known != nullptr && known->place.is_live;
  if (erased_.count(file.number) != 0 || tree.IsForgotten()) return;
  if (is_live && known->moment == moment_) return;
  JobId reader = is_being_compacted ? kUntoldJob : kNoJob;
  if (is_live && tree.IsRunning(known->place.job)) reader = known->place.job;
  Change(file.number, tree, [&](Table& listed) {
    listed.place.is_live = true;
    listed.place.level = file.level;
    listed.place.job = reader;
    listed.is_unconfirmed = false;
    listed.moment = moment_;
    const auto removed = removed_.find(file.number);
    if (removed != removed_.end()) listed.Learn(removed->second);
    if (file.facts) listed.Learn(*file.facts);
  });
  removed_.erase(file.number);
}

std::optional<std::uint64_t> Tables::Sweep(std::uint64_t number, std::size_t count) {
  auto table = tables_.lower_bound(number);
  for (; count != 0 && table != tables_.end(); --count) {
    const Table& known = table->second;
    const JobId job = known.place.job;
    const bool is_running = known.tree->IsRunning(job);
    // What wrote or began a table without an event of its job has ended if nothing is being
    // compacted by an unknown job; a listing misses that of inputs that an event changes meanwhile,
    // so not the first ones decide.
    const bool has_ended = !known.tree->HasUntoldJob() && moment_ > known.moment + 2;
    const bool may_go = known.place.is_live ? !known.is_unconfirmed || has_ended
                                            : job == kNoJob || (!is_running && has_ended);
    if (may_go && known.moment != moment_) {
      table = Remove(table);
      continue;
    }
    if (known.is_unconfirmed || (!known.place.is_live && !is_running)) MarkStale();
    ++table;
  }
  return table == tables_.end() ? std::nullopt : std::optional(table->first);
}

const Tree::RunningJob* Tree::FindJob(JobId job) const {
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& known) { return known.id == job; });
  return found == jobs_.end() ? nullptr : &*found;
}

// What it has written and not installed is removed, or kept until a listing decides.
void Tree::ForgetJob(JobId id, bool keeps) {
  const RunningJob* const job = FindJob(id);
  if (job == nullptr) return;
  for (const std::uint64_t number : job->started) {
    const auto table = tables_.tables_.find(number);
    if (table == tables_.tables_.end() || table->second.place.is_live) continue;
    if (!keeps) tables_.Remove(table);
    if (keeps) tables_.Change(number, *this, [](Table& kept) { kept.place.job = kNoJob; });
    if (keeps) tables_.MarkStale();
  }
  jobs_.erase(jobs_.begin() + (job - jobs_.data()));
}

void Tree::BeginJob(const Job& job, int first_level, const NamedFiles& inputs) {
  if (IsRunning(job.id)) return;
  // A thread runs one job at a time, so another one of it has ended without an event.
  for (std::size_t i = jobs_.size(); i-- > 0;) {
    if (jobs_[i].thread == job.thread) ForgetJob(jobs_[i].id, /*keeps=*/true);
  }
  for (const NamedFile& input : inputs) {
    Install(input);
    const Table* const table = tables_.Find(input.number);
    if (table == nullptr) continue;
    // CompactRange with change_level moves tables without an event if it has none to rewrite.
    const int level = table->place.level;
    if (level < first_level || level > job.output_level) tables_.MarkStale();
    tables_.Change(input.number, *this, [&](Table& read) { read.place.job = job.id; });
  }
  jobs_.push_back({job, {}});
  newest_job_ = std::max(newest_job_, job.id);
}

void Tree::StartTable(std::uint64_t number, JobId job, int level) {
  newest_job_ = std::max(newest_job_, job);
  if (tables_.Find(number) != nullptr || tables_.erased_.count(number) != 0) return;
  if (IsRunning(job)) const_cast<RunningJob*>(FindJob(job))->started.push_back(number);
  tables_.Change(number, *this, [&](Table& table) {
    table.place.job = job;
    table.place.level = level;
    table.moment = tables_.moment_;
  });
}

void Tree::FinishTable(std::uint64_t number, JobId job, const TableFacts& facts) {
  StartTable(number, job);
  if (tables_.Find(number) == nullptr) return;
  const bool is_told = IsRunning(job);
  if (!is_told) tables_.MarkStale();
  tables_.Change(number, *this, [&](Table& table) {
    table.Learn(facts);
    if (is_told) return;
    table.moment = tables_.moment_;
    if (table.place.is_live || table.place.level == kUnplaced) return;
    table.place.is_live = table.is_unconfirmed = true;
  });
}

// Makes the table of an event live. One that is moved goes on from its input level only, since the
// ends of two moves may be told in the other order; or down, where that level is not known, and so
// taken for the output's.
void Tree::Install(const NamedFile& file, std::optional<int> input_level) {
  const Table* const known = tables_.Find(file.number);
  if (known == nullptr) tables_.MarkStale();
  if (tables_.erased_.count(file.number) != 0 || (known == nullptr && input_level)) return;
  tables_.Change(file.number, *this, [&](Table& table) {
    Place& place = table.place;
    if (!place.is_live) place.job = kNoJob;
    const bool moves = input_level && (place.level == *input_level ||
                                       (*input_level == file.level && place.level < file.level));
    if (!place.is_live || table.is_unconfirmed || moves) place.level = file.level;
    place.is_live = true;
    table.is_unconfirmed = false;
    table.moment = tables_.moment_;
    if (file.facts) table.Learn(*file.facts);
  });
}

void Tree::EndJob(JobId id, const NamedFiles& inputs, const NamedFiles& outputs) {
  const RunningJob* const job = FindJob(id);
  const bool is_flush = job != nullptr && job->is_flush;
  // A database with two listeners tells each event twice.
  const bool is_told_again = std::count(ended_.begin(), ended_.end(), id) != 0;
  if (job == nullptr && !is_told_again) tables_.MarkStale();
  if (job != nullptr) ended_[ended_count_++ % ended_.size()] = id;
  NamedFiles replaced;
  std::set_difference(inputs.begin(), inputs.end(), outputs.begin(), outputs.end(),
                      std::back_inserter(replaced));
  // A job that moves tables deletes none: universal compaction leaves those of its output level.
  if (replaced.size() != inputs.size()) replaced.clear();
  const double level0_keys = Real(SumLive(inputs, 0).keys);
  if (level0_keys != 0.0) {
    const double moved = 1.0 - Real(SumLive(replaced, 0).keys) / level0_keys;
    moved_part_ = (moved_part_.value_or(0.0) + moved) / 2.0;
  }
  const TableSum read = SumLive(replaced);
  for (const NamedFile& output : outputs) {
    const auto input = std::lower_bound(inputs.begin(), inputs.end(), output);
    const bool is_moved = input != inputs.end() && input->number == output.number;
    Install(output, is_moved ? std::optional(input->level) : std::nullopt);
    const Table* const table = tables_.Find(output.number);
    if (table == nullptr || table->place.is_written) continue;
    // The worker of a compaction service tells no properties; the next listing estimates them.
    const TableFacts mean = {read.keys / outputs.size(), read.filter_bytes / outputs.size(),
                             read.index_bytes / outputs.size(), 0, Source::kSampled};
    tables_.Change(output.number, *this, [&](Table& told) { told.Learn(mean); });
  }
  LearnWritten(is_flush, read, outputs);
  for (const NamedFile& file : replaced) tables_.Erase(file.number);
  CancelJob(id);
}

TableSum Tree::SumLive(const NamedFiles& files, int deepest) const {
  TableSum sum;
  for (const NamedFile& file : files) {
    const Table* const table = tables_.Find(file.number);
    if (table != nullptr && table->place.is_live && table->place.level <= deepest) {
      sum.Add(table->sum);
    }
  }
  return sum;
}

void Tree::LearnWritten(bool is_flush, const TableSum& read, const NamedFiles& outputs) {
  const std::uint64_t keys = SumLive(outputs).keys;
  if (is_flush && keys != 0) flush_keys_ = flush_keys_ == 0 ? keys : (flush_keys_ + keys) / 2;
  const bool are_known = std::all_of(outputs.begin(), outputs.end(),
                                     [](const NamedFile& file) { return file.facts.has_value(); });
  if (!are_known) tables_.MarkStale();
  if (!are_known || read.keys == 0 || outputs.empty()) return;
  const double part = std::min(1.0, Real(keys) / Real(read.keys));
  const auto [mean, is_first] = kept_part_.try_emplace(outputs[0].level, part);
  if (!is_first) mean->second = (mean->second + part) / 2.0;
}

void Tree::SetOptions(const DivisionOptions& options) {
  const bool is_same =
      options_.bits_per_key == options.bits_per_key && options_.ribbon == options.ribbon;
  options_ = options;
  if (is_same) return;
  for (const auto& [number, table] : tables_.tables_) {
    if (table.tree == this) tables_.Change(number, *this, [](Table&) {});
  }
}

TreeView Tree::For(JobId id, int level, std::uint64_t keys) const {
  const RunningJob* const job = FindJob(id);
  const bool is_flush = job == nullptr ? level == 0 : job->is_flush;
  const int output_level = job == nullptr ? level : job->output_level;
  const bool is_marked = job == nullptr && HasUntoldJob();
  const auto is_input = [&](const Place& place) {
    if (job != nullptr || is_marked) return place.job == (is_marked ? kUntoldJob : id);
    return level != 0 && place.level == level;
  };
  TableSum read;
  TableSum written;
  RunSums others;
  for (const auto& [place, sum] : sums_) {
    if (!place.is_written) continue;
    if (place.job == id && (job == nullptr || !place.is_live)) {
      written.Add(sum);
    } else if (place.is_live && is_input(place)) {
      read.Add(sum);
    } else if (place.is_live && place.bits_class >= 0) {
      AddRun(place, sum, others);
    }
  }
  if (!is_flush) {
    const auto part = kept_part_.find(output_level);
    const double expected = Real(read.keys) * (part == kept_part_.end() ? 1.0 : part->second);
    keys = std::max(keys, static_cast<std::uint64_t>(std::max(0.0, expected - Real(written.keys))));
  }
  TreeView view;
  if (keys == 0) return view;
  view.rewrites_tables = RewritesTables();
  view.keys_to_write = Real(keys);
  view.input_filter_bytes = Real(read.filter_bytes);
  view.written_filter_bytes = Real(written.filter_bytes);
  view.own_keys = Real(keys + (is_flush ? 0 : written.keys));
  const TableSum& like = read.keys == 0 ? all_ : read;
  view.index_bytes_per_key = Real(like.index_bytes) / std::max(1.0, Real(like.keys));
  view.other_filter_bits = Real(written.filter_bits);
  // A flushed table that will move down as it is belongs to the largest run from the beginning: no
  // key is in any other run's range, too.
  const bool moves_down = is_flush && moved_part_.value_or(0.0) > kMovesDown;
  for (const auto& [place, sum] : others) {
    view.other_filter_bits += Real(sum.filter_bits);
    if (moves_down || (!is_flush && place.level != 0 && place.level == output_level)) {
      view.own_keys += Real(sum.keys);
    } else {
      view.other_runs.push_back(Equal(place, sum, options_.ribbon));
    }
  }
  return view;
}

// Whether the last listing has marked what an unknown job reads.
bool Tree::HasUntoldJob() const {
  return std::any_of(sums_.begin(), sums_.end(),
                     [](const auto& sum) { return sum.first.job == kUntoldJob; });
}

// Whether level 0 is known not to move down as it is.
bool Tree::RewritesTables() const {
  if (moved_part_) return *moved_part_ <= kMovesDown;
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [](const RunningJob& job) { return !job.is_flush && !job.started.empty(); });
}

std::uint64_t Tree::FlushKeys() const {
  TableSum level0;
  for (const auto& [place, sum] : sums_) {
    if (place.is_live && place.level == 0) level0.Add(sum);
  }
  const std::uint64_t mean = level0.keys / std::max<std::uint64_t>(1, level0.tables);
  return flush_keys_ != 0 ? flush_keys_ : mean;
}

std::vector<std::pair<Place, TableSum>> Tree::ListAll() const {
  std::vector<std::pair<Place, TableSum>> listed;
  for (const auto& [at, sum] : sums_) {
    if (!at.is_live) continue;
    Place place = at;
    place.job = kNoJob;
    if (listed.empty() || listed.back().first < place) listed.emplace_back(place, TableSum());
    listed.back().second.Add(sum);
  }
  return listed;
}

std::vector<analysis::EqualRuns> Tree::Runs() const {
  RunSums sums;
  for (const auto& [place, sum] : sums_) {
    if (place.is_live && place.bits_class >= 0) AddRun(place, sum, sums);
  }
  std::vector<analysis::EqualRuns> runs;
  runs.reserve(sums.size());
  for (const auto& [place, sum] : sums) runs.push_back(Equal(place, sum, options_.ribbon));
  return runs;
}

}  // namespace exactbloom::tree
