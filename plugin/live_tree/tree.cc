#include "tree.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "exactbloom/layout.h"

namespace exactbloom::tree {
namespace {

constexpr JobId kUntoldJob = -2;  // reads what a listing marks, and no known job reads
constexpr std::size_t kErased = 16'384;
// If more of level 0 than this moves down as it is, flushed tables are expected to do so.
constexpr double kMovesDown = 0.5;

// Returns the bits that the division counts of a filter that it knows by its bytes. Those of small
// tables were rounded up to whole lines.
double CountedBits(const TableFacts& facts, double bits_per_key) {
  constexpr double kTrailer = 20.0;
  constexpr double kSmall = 400.0;
  const double bytes = Real(facts.filter_bytes) - Real(facts.partition_bytes);
  return bytes <= kSmall ? std::max(0.0, std::min(8.0 * bytes, bits_per_key * Real(facts.keys)))
                         : 8.0 * (bytes - kTrailer);
}

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

int SizeClass(double keys) {
  constexpr double kClassesPerDoubling = 8.0;
  return static_cast<int>(kClassesPerDoubling * std::log2(keys + 1.0));
}

void TableSum::Add(const TableSum& more, double factor) {
  for (const auto member : {&TableSum::keys, &TableSum::filter_bytes, &TableSum::index_bytes,
                            &TableSum::partition_bytes, &TableSum::filter_bits,
                            &TableSum::floor_bytes, &TableSum::tables, &TableSum::without_filter}) {
    this->*member += static_cast<std::uint64_t>(
        static_cast<std::int64_t>(factor * static_cast<double>(more.*member)));
  }
}

void Table::Learn(const TableFacts& facts, Source from) {
  if (from < source || source == Source::kProperties || from == Source::kNothing) return;
  source = from;
  sum.keys = facts.keys;
  sum.index_bytes = facts.index_bytes;
  const double assumed = tree->BitsPerKey() * Real(facts.keys);
  sum.filter_bytes =
      from == Source::kAssumed ? static_cast<std::uint64_t>(assumed / 8.0) : facts.filter_bytes;
  if (place.ribbon) return;  // its bits are known
  const double bits = from == Source::kAssumed ? assumed : CountedBits(facts, tree->BitsPerKey());
  sum.filter_bits = static_cast<std::uint64_t>(bits);
}

void Table::Settle() {
  constexpr double kClassesPerBit = 4.0;
  constexpr double kMostBits = 1000.0;  // which few keys may have
  const double bits = 8.0 * Real(sum.filter_bytes);
  const double keys = Real(sum.keys);
  sum.tables = 1;
  sum.without_filter = place.is_live && bits < kMinBitsPerKey * keys ? 1 : 0;
  place.size_class = place.level == 0 ? SizeClass(keys) : 0;
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
  sum->second.Add(table.sum, -1.0);
  if (sum->second.tables == 0) table.tree->sums_.erase(sum);
  table.tree->all_.Add(table.sum, -1.0);
}

Tables::Iterator Tables::Remove(Iterator table) {
  if (table == tables_.end()) return table;
  Subtract(table->second);
  return tables_.erase(table);
}

void Tables::Note(std::uint64_t number) {
  if (is_being_listed_) changed_.insert(number);
}

void Tables::Erase(std::uint64_t number) {
  Remove(tables_.find(number));
  erased_.insert(number);
  if (erased_.size() > kErased) erased_.erase(erased_.begin());
  Note(number);
}

void Tables::Drop(std::uint64_t number) {
  const Table* const table = Find(number);
  const bool is_live = table != nullptr && table->place.is_live;
  if (is_live && !table->tree->IsRunning(table->place.job)) MarkStale();
  Erase(number);
}

void Tables::Forget(Tree& tree) {
  tree.is_forgotten_ = true;
  for (auto table = tables_.begin(); table != tables_.end();) {
    table = table->second.tree == &tree ? Remove(table) : std::next(table);
  }
}

void Tables::BeginListing() {
  is_stale_ = false;
  is_being_listed_ = true;
  changed_.clear();
}

void Tables::Replace(const Listing& listing, std::size_t first, std::size_t last) {
  if (!is_being_listed_) return;
  auto known = first == 0 ? tables_.begin() : tables_.lower_bound(listing[first].number);
  const auto sweep_until = [&](std::uint64_t number) {
    while (known != tables_.end() && known->first < number) known = Sweep(known);
  };
  for (std::size_t i = first; i < last; ++i) {
    sweep_until(listing[i].number);
    TakeOver(listing[i]);
    if (known != tables_.end() && known->first == listing[i].number) ++known;
  }
  const bool is_over = last == listing.size();
  sweep_until(is_over ? std::numeric_limits<std::uint64_t>::max() : listing[last].number);
  is_being_listed_ = !is_over;
}

void Tables::TakeOver(const ListedFile& file) {
  const Table* const known = Find(file.number);
  const bool is_live = known != nullptr && known->place.is_live;
  const bool is_changed = (known == nullptr || is_live) && changed_.count(file.number) != 0;
  if (is_changed || file.tree->is_forgotten_) return;
  JobId reader = file.is_being_compacted ? kUntoldJob : kNoJob;
  if (is_live && file.tree->IsRunning(known->place.job)) reader = known->place.job;
  if (is_live && known->place.level == file.level && known->place.job == reader &&
      !known->is_unconfirmed && known->source > file.source) {
    return;
  }
  erased_.erase(file.number);
  Change(file.number, *file.tree, [&](Table& table) {
    table.place.is_live = true;
    table.place.level = file.level;
    table.place.job = reader;
    table.is_unconfirmed = false;
    table.Learn(file.facts, file.source);
  });
}

// Of a table that is not listed. Returns the next one.
Tables::Iterator Tables::Sweep(Iterator table) {
  const auto& [number, unlisted] = *table;
  const JobId job = unlisted.place.job;
  const bool is_live = unlisted.place.is_live && !unlisted.is_unconfirmed;
  const bool is_orphan = !unlisted.place.is_live && job == kNoJob;
  if ((is_live || is_orphan) && changed_.count(number) == 0) return Remove(table);
  if (!is_live && (unlisted.is_unconfirmed || !unlisted.tree->IsRunning(job))) MarkStale();
  return std::next(table);
}

void Tables::Learn(const Listing& listing, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    const ListedFile& file = listing[i];
    const Table* const known = Find(file.number);
    const bool is_known = known != nullptr && known->place.is_live && known->tree == file.tree;
    if (!is_known || known->source == Source::kProperties) continue;
    Change(file.number, *file.tree, [&](Table& table) { table.Learn(file.facts, file.source); });
  }
}

Tree::RunningJob* Tree::FindJob(JobId job) {
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

// A thread runs one job at a time.
void Tree::ForgetLostJobs(const Job& next) {
  const auto lost = [&] {
    return std::find_if(jobs_.begin(), jobs_.end(),
                        [&](const RunningJob& job) { return job.thread == next.thread; });
  };
  for (auto job = lost(); job != jobs_.end(); job = lost()) ForgetJob(job->id, /*keeps=*/true);
}

void Tree::BeginJob(const Job& job, int first_level, const EventFiles& inputs) {
  if (IsRunning(job.id)) return;
  ForgetLostJobs(job);
  for (const EventFile& input : inputs) {
    Install(input);
    const Table* const table = tables_.Find(input.number);
    if (table == nullptr) continue;
    // CompactRange with change_level moves tables without an event if it has none to rewrite.
    const int level = table->place.level;
    if (level < first_level || level > job.output_level) tables_.MarkStale();
    tables_.Change(input.number, *this, [&](Table& read) { read.place.job = job.id; });
  }
  jobs_.push_back({job, {}, {}});
}

void Tree::StartTable(std::uint64_t number, JobId job, int level) {
  if (tables_.Find(number) != nullptr || tables_.IsErased(number)) return;
  RunningJob* const running = FindJob(job);
  if (running != nullptr) running->started.push_back(number);
  tables_.Change(number, *this, [&](Table& table) {
    table.place.job = job;
    table.place.level = level;
  });
}

void Tree::FinishTable(std::uint64_t number, JobId job, const TableFacts& facts) {
  StartTable(number, job);
  const Table* const known = tables_.Find(number);
  if (known == nullptr) return;
  RunningJob* const running = FindJob(job);
  if (running == nullptr) {
    tables_.MarkStale();
    tables_.Note(number);
  }
  const bool is_first = known->source != Source::kProperties;
  tables_.Change(number, *this, [&](Table& table) {
    table.Learn(facts, Source::kProperties);
    if (running != nullptr || table.place.is_live || table.place.level == kUnplaced) return;
    table.place.is_live = table.is_unconfirmed = true;
  });
  if (running != nullptr && is_first) running->written.Add(tables_.Find(number)->sum);
}

// Makes the table of an event live. One that is moved goes on from its input level only, since the
// ends of two moves may be told in the other order; or down, where that level is not known, and so
// taken for the output's.
void Tree::Install(const EventFile& file, std::optional<int> input_level) {
  const Table* const known = tables_.Find(file.number);
  if (known == nullptr) tables_.MarkStale();
  if (tables_.IsErased(file.number) || (known == nullptr && input_level)) return;
  tables_.Note(file.number);
  tables_.Change(file.number, *this, [&](Table& table) {
    Place& place = table.place;
    if (!place.is_live) place.job = kNoJob;
    const bool moves = input_level && (place.level == *input_level ||
                                       (*input_level == file.level && place.level < file.level));
    if (!place.is_live || table.is_unconfirmed || moves) place.level = file.level;
    place.is_live = true;
    table.is_unconfirmed = false;
    if (file.facts) table.Learn(*file.facts, Source::kProperties);
  });
}

void Tree::EndJob(JobId id, const EventFiles& inputs, const EventFiles& outputs) {
  const RunningJob* const job = FindJob(id);
  if (job == nullptr) tables_.MarkStale();
  const auto is_before = [](const auto& one, const auto& other) {
    return one.number < other.number;
  };
  EventFiles replaced;
  std::set_difference(inputs.begin(), inputs.end(), outputs.begin(), outputs.end(),
                      std::back_inserter(replaced), is_before);
  const double level0_keys = Real(SumLive(inputs, 0).keys);
  if (level0_keys != 0.0) {
    moved_part_ = (moved_part_ + 1.0 - Real(SumLive(replaced, 0).keys) / level0_keys) / 2.0;
  }
  const TableSum read = SumLive(replaced);
  for (const EventFile& output : outputs) {
    const auto input = std::lower_bound(inputs.begin(), inputs.end(), output, is_before);
    const bool is_moved = input != inputs.end() && input->number == output.number;
    Install(output, is_moved ? std::optional(input->level) : std::nullopt);
    const Table* const table = tables_.Find(output.number);
    if (table == nullptr || table->source != Source::kNothing) continue;
    // The worker of a compaction service tells no properties; the next listing estimates them.
    TableFacts mean;
    mean.Add(read, 1.0 / Real(outputs.size()));
    tables_.Change(output.number, *this, [&](Table& told) { told.Learn(mean, Source::kSampled); });
  }
  LearnWritten(job != nullptr && job->is_flush, read, outputs);
  for (const EventFile& file : replaced) tables_.Erase(file.number);
  CancelJob(id);
}

TableSum Tree::SumLive(const EventFiles& files, int deepest) const {
  TableSum sum;
  for (const EventFile& file : files) {
    const Table* const table = tables_.Find(file.number);
    if (table != nullptr && table->place.is_live && table->place.level <= deepest) {
      sum.Add(table->sum);
    }
  }
  return sum;
}

void Tree::LearnWritten(bool is_flush, const TableSum& read, const EventFiles& outputs) {
  const std::uint64_t keys = SumLive(outputs).keys;
  if (is_flush && keys != 0) flush_keys_ = flush_keys_ == 0 ? keys : (flush_keys_ + keys) / 2;
  const bool are_known = std::all_of(outputs.begin(), outputs.end(),
                                     [](const EventFile& file) { return file.facts.has_value(); });
  if (!are_known) tables_.MarkStale();
  if (!are_known || read.keys == 0 || outputs.empty()) return;
  const double part = std::min(1.0, Real(keys) / Real(read.keys));
  const auto [mean, is_first] = kept_part_.try_emplace(outputs[0].level, part);
  if (!is_first) mean->second = (mean->second + part) / 2.0;
}

void Tree::Assume(double bits_per_key) {
  bits_per_key_ = bits_per_key;
  for (const auto& [number, table] : tables_.tables_) {
    if (table.tree != this || table.source != Source::kAssumed) continue;
    tables_.Change(number, *this, [](Table& assumed) {
      assumed.Learn(TableFacts(assumed.sum), Source::kAssumed);
    });
  }
}

TreeView Tree::For(JobId id, int level, std::uint64_t keys, bool ribbon) const {
  const RunningJob* const job = FindJob(id);
  const bool is_flush = job == nullptr ? level == 0 : job->is_flush;
  const int output_level = job == nullptr ? level : job->output_level;
  const bool is_marked = job == nullptr && std::any_of(sums_.begin(), sums_.end(), [](auto& sum) {
                           return sum.first.job == kUntoldJob;
                         });
  const auto is_input = [&](const Place& place) {
    if (job != nullptr || is_marked) return place.job == (is_marked ? kUntoldJob : id);
    return level != 0 && place.level == level;
  };
  TableSum read;
  TableSum written = job == nullptr ? TableSum() : job->written;
  RunSums others;
  for (const auto& [place, sum] : sums_) {
    if (!place.is_live || sum.tables == 0) continue;
    if (job == nullptr && place.job == id) {
      written.Add(sum);
    } else if (is_input(place)) {
      read.Add(sum);
    } else if (place.bits_class >= 0) {
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
  view.keys_to_write = Real(keys);
  view.input_filter_bytes = Real(read.filter_bytes);
  view.written_filter_bytes = Real(written.filter_bytes);
  view.own_keys = Real(keys + (is_flush ? 0 : written.keys));
  const TableSum& like = read.keys == 0 ? all_ : read;
  view.index_bytes_per_key = Real(like.index_bytes) / std::max(1.0, Real(like.keys));
  view.other_filter_bits = Real(written.filter_bits);
  // A flushed table that will move down as it is belongs to the largest run from the beginning: no
  // key is in any other run's range, too.
  const bool moves_down = is_flush && moved_part_ > kMovesDown;
  for (const auto& [place, sum] : others) {
    view.other_filter_bits += Real(sum.filter_bits);
    if (moves_down || (!is_flush && place.level != 0 && place.level == output_level)) {
      view.own_keys += Real(sum.keys);
    } else {
      view.other_runs.push_back(Equal(place, sum, ribbon));
    }
  }
  return view;
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
    if (!at.is_live || sum.tables == 0) continue;
    Place place = at;
    place.job = kNoJob;
    if (listed.empty() || listed.back().first < place) listed.emplace_back(place, TableSum());
    listed.back().second.Add(sum);
  }
  return listed;
}

std::vector<analysis::EqualRuns> Tree::Runs(bool ribbon) const {
  RunSums sums;
  for (const auto& [place, sum] : sums_) {
    if (place.is_live && place.bits_class >= 0 && sum.tables != 0) AddRun(place, sum, sums);
  }
  std::vector<analysis::EqualRuns> runs;
  runs.reserve(sums.size());
  for (const auto& [place, sum] : sums) runs.push_back(Equal(place, sum, ribbon));
  return runs;
}

void Reservation::Take(const TableSum& amount, bool is_ribbon) {
  const Table* const known = tables_.Find(number_);
  if (known == nullptr || known->place.is_live || known->source == Source::kProperties) return;
  tables_.Change(number_, *known->tree, [&](Table& table) {
    table.sum = amount;
    table.place.ribbon = is_ribbon;
  });
  taken_ = amount;
}

Reservation::~Reservation() {
  if (taken_.filter_bytes == kept_.filter_bytes) return;
  try {
    const Table* const known = tables_.Find(number_);
    Take(kept_, known != nullptr && known->place.ribbon.value_or(false));
  } catch (...) {
    tables_.MarkStale();
  }
}

}  // namespace exactbloom::tree
