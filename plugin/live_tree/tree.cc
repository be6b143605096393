#include "tree.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "exactbloom/layout.h"

namespace exactbloom::tree {
namespace {

// Only flushes end without an event: one that failed, or was overtaken by closing. Most of them are
// found out when their thread begins another job; the others when so many have begun later.
constexpr std::size_t kLaterJobs = 64;

// If more of level 0 than this moves down as it is, flushed tables are expected to do so.
constexpr double kMovesDown = 0.5;

// This is assumed before RocksDB has opened any table.
constexpr double kEntriesPerByte = 0.01;

constexpr auto kHasLessNumber = [](const auto& table, std::uint64_t number) {
  return table.number < number;
};

std::pair<int, int> Place(int level, std::uint64_t keys) {
  return {level, level == 0 ? SizeClass(Real(keys)) : 0};
}

// RocksDB asks no policy for a table that gets no filter, and lookups ask none of no key.
void AddAsked(int level, std::uint64_t keys, std::uint64_t filter_bytes, RunSums& runs) {
  if (keys != 0 && filter_bytes != 0) runs[Place(level, keys)].Add(keys, filter_bytes);
}

}  // namespace

int SizeClass(double keys) {
  constexpr double kClassesPerDoubling = 8.0;
  return static_cast<int>(kClassesPerDoubling * std::log2(keys + 1.0));
}

void TableSum::Add(std::uint64_t more_keys, std::uint64_t bytes) {
  tables += 1;
  keys += more_keys;
  filter_bytes += bytes;
}

void Tree::Table::Learn(const std::optional<TableFacts>& facts) {
  if (!facts || is_exact) return;
  keys = facts->keys;
  filter_bytes = facts->filter_bytes;
  is_exact = true;
}

const Tree::RunningJob* Tree::FindJob(JobId job) const {
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& known) { return known.id == job; });
  return found == jobs_.end() ? nullptr : &*found;
}

const Tree::Table* Tree::Find(std::uint64_t number) const {
  const auto found = std::lower_bound(tables_.begin(), tables_.end(), number, kHasLessNumber);
  return found != tables_.end() && found->number == number ? &*found : nullptr;
}

Tree::Table& Tree::FindOrAdd(std::uint64_t number) {
  const auto place = std::lower_bound(tables_.begin(), tables_.end(), number, kHasLessNumber);
  if (place != tables_.end() && place->number == number) return *place;
  Table table;
  table.number = number;
  return *tables_.insert(place, table);
}

bool Tree::IsExact(std::uint64_t number) const {
  const Table* const table = Find(number);
  return table != nullptr && table->state == State::kLive && table->is_exact;
}

void Tree::NoteChange(Table& table) {
  table.changed = ++change_;
  if (table.state == State::kLive) live_change_ = change_;
}

// Makes the table live and returns it; returns null if it is gone.
Tree::Table* Tree::Install(const EventFile& file) {
  Table& table = FindOrAdd(file.number);
  if (table.state == State::kGone) return nullptr;
  const bool tells_nothing = !file.facts || table.is_exact;
  if (table.state == State::kLive && tells_nothing) return &table;
  if (table.state == State::kMaking) table.level = file.level;
  table.state = State::kLive;
  table.Learn(file.facts);
  NoteChange(table);
  return &table;
}

void Tree::Discard(Table& table) {
  NoteChange(table);
  table.state = State::kGone;
}

// Calls function(table, file) for the files, sorted by number, that the tree knows.
template <typename Files, typename Function>
void Tree::ForEachKnown(const Files& files, Function function) {
  auto table = tables_.begin();
  for (const auto& file : files) {
    while (table != tables_.end() && table->number < file.number) ++table;
    if (table != tables_.end() && table->number == file.number) function(*table, file);
  }
}

// A thread runs one job at a time.
void Tree::ForgetLostJobs(std::uint64_t thread, JobId job) {
  for (std::size_t i = 0; i < jobs_.size();) {
    const RunningJob& other = jobs_[i];
    const bool is_lost = other.is_flush && jobs_.size() - i > kLaterJobs;
    if (other.id != job && (other.thread == thread || is_lost)) {
      CancelJob(other.id);
    } else {
      ++i;
    }
  }
}

// Late events come only of running jobs and of the listing that is taken.
void Tree::ForgetGone() {
  std::uint64_t oldest = listing_began_.value_or(std::numeric_limits<std::uint64_t>::max());
  for (const RunningJob& job : jobs_) oldest = std::min(oldest, job.began);
  tables_.erase(std::remove_if(tables_.begin(), tables_.end(),
                               [&](const Table& table) {
                                 return table.state == State::kGone && table.changed < oldest;
                               }),
                tables_.end());
}

void Tree::BeginJob(const Job& job, int first_level, const EventFiles& inputs) {
  if (FindJob(job.id) != nullptr) return;
  ForgetLostJobs(job.thread, job.id);
  const std::uint64_t began = ++change_;
  for (const EventFile& input : inputs) {
    Table* const table = Install(input);
    if (table == nullptr) continue;
    // CompactRange with change_level moves tables without an event if it has none to rewrite.
    is_stale_ |= table->level < first_level || table->level > job.output_level;
    table->reader = job.id;
  }
  jobs_.push_back({job, began});
}

void Tree::StartTable(std::uint64_t number, JobId job) {
  if (Find(number) != nullptr) return;
  Table& table = FindOrAdd(number);
  table.writer = job;
  NoteChange(table);
}

void Tree::SetFilter(std::uint64_t number, std::uint64_t bytes, bool is_ribbon, bool is_floor) {
  Table* const table = Find(number);
  if (table == nullptr || table->state != State::kMaking || table->is_exact) return;
  table->filter_bytes = bytes;
  table->ribbon = is_ribbon;
  table->is_floor = is_floor;
}

void Tree::FinishTable(std::uint64_t number, JobId job, const TableFacts& facts) {
  StartTable(number, job);
  Table& table = *Find(number);
  if (table.state == State::kGone) return;
  table.Learn(facts);
  NoteChange(table);
  is_stale_ |= FindJob(job) == nullptr;
}

void Tree::EndJob(JobId id, const EventFiles& inputs, const EventFiles& outputs) {
  const RunningJob* const job = FindJob(id);
  is_stale_ |= job == nullptr;
  EventFiles replaced;
  std::set_difference(
      inputs.begin(), inputs.end(), outputs.begin(), outputs.end(), std::back_inserter(replaced),
      [](const auto& first, const auto& second) { return first.number < second.number; });
  const std::uint64_t level0_keys = SumLive(inputs, 0).keys;
  if (level0_keys != 0) {
    const double replaced_part = Real(SumLive(replaced, 0).keys) / Real(level0_keys);
    moved_part_ = (moved_part_ + 1.0 - replaced_part) / 2.0;
  }
  const TableSum read = SumLive(replaced);
  for (const EventFile& output : outputs) InstallOutput(output, read, outputs.size());
  LearnWritten(job != nullptr && job->is_flush, read, outputs);
  ForEachKnown(replaced, [&](Table& table, const EventFile& /*file*/) { Discard(table); });
  CancelJob(id);
}

void Tree::InstallOutput(const EventFile& output, const TableSum& read, std::uint64_t outputs) {
  Table* const table = Install(output);
  if (table == nullptr) return;
  // Tables move down only, except by CompactRange with change_level, after which there is a
  // listing.
  if (table->level < output.level) {
    table->level = output.level;
    NoteChange(*table);
  }
  // The worker of a compaction service tells no properties; the next listing estimates them.
  if (!table->is_exact && table->keys == 0) {
    table->keys = read.keys / outputs;
    table->filter_bytes = read.filter_bytes / outputs;
  }
}

TableSum Tree::SumLive(const EventFiles& files, int deepest) {
  TableSum sum;
  ForEachKnown(files, [&](const Table& table, const EventFile& /*file*/) {
    if (table.state == State::kLive && table.level <= deepest)
      sum.Add(table.keys, table.filter_bytes);
  });
  return sum;
}

void Tree::LearnWritten(bool is_flush, const TableSum& read, const EventFiles& outputs) {
  const std::uint64_t keys = SumLive(outputs).keys;
  if (is_flush && keys != 0) flush_keys_ = flush_keys_ == 0 ? keys : (flush_keys_ + keys) / 2;
  const bool are_known = std::all_of(outputs.begin(), outputs.end(),
                                     [](const EventFile& file) { return file.facts.has_value(); });
  is_stale_ |= !are_known;
  if (!are_known || read.keys == 0 || outputs.empty()) return;
  const double part = std::min(1.0, Real(keys) / Real(read.keys));
  const auto [mean, is_first] = kept_part_.try_emplace(outputs[0].level, part);
  if (!is_first) mean->second = (mean->second + part) / 2.0;
}

void Tree::CancelJob(JobId id) {
  const RunningJob* const job = FindJob(id);
  if (job == nullptr) return;
  jobs_.erase(jobs_.begin() + (job - jobs_.data()));
  for (Table& table : tables_) {
    if (table.state == State::kMaking && table.writer == id) Discard(table);
  }
  ForgetGone();
}

void Tree::Drop(std::uint64_t number) {
  if (Find(number) == nullptr && !IsBeingListed()) return;
  Table& table = FindOrAdd(number);
  is_stale_ |= table.state == State::kLive;
  Discard(table);
}

void Tree::BeginListing() {
  is_stale_ = false;
  listing_began_ = change_;
}

void Tree::Replace(const Listing& listing, double bits_per_key) {
  if (!listing_began_) return;
  std::vector<Table> merged;
  merged.reserve(listing.files.size() + tables_.size());
  auto known = tables_.begin();
  const auto keep_until = [&](std::uint64_t number) {
    for (; known != tables_.end() && known->number < number; ++known) {
      Table& table = merged.emplace_back(*known);
      if (table.state != State::kLive || table.changed > *listing_began_) continue;
      table.state = State::kGone;
      table.changed = change_ + 1;
    }
  };
  for (const Listing::File& file : listing.files) {
    keep_until(file.number);
    const bool is_known = known != tables_.end() && known->number == file.number;
    Table& table = merged.emplace_back(is_known ? *known++ : Table());
    if (table.state != State::kMaking && table.changed > *listing_began_) continue;
    table.number = file.number;
    table.level = file.level;
    table.state = State::kLive;
    table.changed = change_ + 1;
  }
  keep_until(std::numeric_limits<std::uint64_t>::max());
  tables_.swap(merged);
  live_change_ = ++change_;
  Estimate(listing, bits_per_key);
  listing_began_.reset();
  ForgetGone();
}

void Tree::Learn(const Listing& listing, double bits_per_key) {
  ForEachKnown(listing.files,
               [](Table& table, const Listing::File& file) { table.Learn(file.facts); });
  live_change_ = ++change_;
  Estimate(listing, bits_per_key);
}

void Tree::Assume(double bits_per_key) {
  for (Table& table : tables_) {
    if (table.state != State::kLive || table.is_exact || table.is_sampled) continue;
    table.filter_bytes = static_cast<std::uint64_t>(bits_per_key / 8.0 * Real(table.keys));
  }
  live_change_ = ++change_;
}

// Keys and filter bytes of tables whose properties nobody has read follow from those of others: of
// the same level if a sample of it was read, since each run has its own bits per key, or else of
// all that are known, or else from what RocksDB lists of the table.
void Tree::Estimate(const Listing& listing, double bits_per_key) {
  struct Known {
    double keys = 0.0;
    double entries = 0.0;
    double filter_bytes = 0.0;
    bool is_sampled = false;
  };
  double listed_entries = 0.0;
  double listed_bytes = 0.0;
  for (const Listing::File& file : listing.files) {
    if (file.entries == 0) continue;
    listed_entries += Real(file.entries);
    listed_bytes += Real(file.bytes);
  }
  const double entries_per_byte =
      listed_bytes > 0.0 ? listed_entries / listed_bytes : kEntriesPerByte;
  const auto entries_of = [&](const Listing::File& file) {
    return file.entries != 0 ? Real(file.entries) : entries_per_byte * Real(file.bytes);
  };
  Known all;
  std::map<int, Known> levels;
  ForEachKnown(listing.files, [&](const Table& table, const Listing::File& file) {
    if (table.state != State::kLive || !table.is_exact || table.keys == 0) return;
    for (Known* known : {&all, &levels[file.level]}) {
      known->keys += Real(table.keys);
      known->entries += entries_of(file);
      known->filter_bytes += Real(table.filter_bytes);
      known->is_sampled |= file.facts.has_value();
    }
  });
  ForEachKnown(listing.files, [&](Table& table, const Listing::File& file) {
    const Known& level = levels[file.level];
    if (table.is_exact || (table.is_sampled && !level.is_sampled)) return;
    const Known& like = level.is_sampled ? level : all;
    const double keys_per_entry =
        like.entries > 0.0 ? std::min(1.0, like.keys / like.entries) : 1.0;
    const double keys = keys_per_entry * entries_of(file);
    const double bytes_per_key =
        level.is_sampled ? level.filter_bytes / level.keys : bits_per_key / 8.0;
    table.keys = static_cast<std::uint64_t>(keys);
    table.filter_bytes = static_cast<std::uint64_t>(bytes_per_key * keys);
    table.is_sampled = level.is_sampled;
  });
}

RunSums Tree::Runs() const {
  RunSums runs;
  for (const Table& table : tables_) {
    if (table.state == State::kLive) AddAsked(table.level, table.keys, table.filter_bytes, runs);
  }
  return runs;
}

Tree::Bytes Tree::FilterBytes() const {
  Bytes bytes;
  for (const Table& table : tables_) {
    if (table.state == State::kGone) continue;
    bytes.all += table.filter_bytes;
    bytes.of_floors += table.is_floor ? table.filter_bytes : 0;
  }
  return bytes;
}

std::uint64_t Tree::TablesWithoutFilter() const {
  return static_cast<std::uint64_t>(
      std::count_if(tables_.begin(), tables_.end(), [](const Table& table) {
        return table.state == State::kLive &&
               8.0 * Real(table.filter_bytes) < kMinBitsPerKey * Real(table.keys);
      }));
}

TreeView Tree::For(JobId id, int level, std::uint64_t keys, const DivisionOptions& options) const {
  TreeView view;
  const RunningJob* const job = FindJob(id);
  const bool is_flush = job == nullptr ? level == 0 : job->is_flush;
  const int output_level = job == nullptr ? level : job->output_level;
  TableSum read;
  TableSum written;
  RunSums others;
  for (const Table& table : tables_) {
    if (table.state == State::kMaking && table.writer == id && table.is_exact) {
      written.Add(table.keys, table.filter_bytes);
      view.other_filter_bytes += DividedBytes(options, table.keys, table.filter_bytes);
    }
    if (table.state != State::kLive) continue;
    // CompactFiles() reports neither its begin nor its end. It may read all down to its level.
    const bool is_input = job == nullptr ? level != 0 && table.level <= level : table.reader == id;
    if (is_input) {
      read.Add(table.keys, table.filter_bytes);
    } else {
      AddAsked(table.level, table.keys, table.filter_bytes, others);
      view.other_filter_bytes += DividedBytes(options, table.keys, table.filter_bytes);
    }
  }
  if (!is_flush) {
    const auto part = kept_part_.find(output_level);
    const double expected = Real(read.keys) * (part == kept_part_.end() ? 1.0 : part->second);
    keys = std::max(keys, static_cast<std::uint64_t>(std::max(0.0, expected - Real(written.keys))));
  }
  if (keys == 0) return view;
  view.keys_to_write = Real(keys);
  view.input_filter_bytes = Real(read.filter_bytes);
  view.written_filter_bytes = Real(written.filter_bytes);
  view.own_keys = Real(keys + (is_flush ? 0 : written.keys));
  // A flushed table that will move down as it is belongs to the largest run from the beginning: no
  // key is in any other run's range, too.
  const bool moves_down = is_flush && moved_part_ > kMovesDown;
  for (const auto& [place, sum] : others) {
    const int run_level = place.first;
    if (moves_down || (!is_flush && run_level != 0 && run_level == output_level)) {
      view.own_keys += Real(sum.keys);
    } else {
      const double count = run_level == 0 ? Real(sum.tables) : 1.0;
      view.other_runs.push_back({Real(sum.keys) / count, count, options.ribbon});
    }
  }
  return view;
}

std::uint64_t Tree::FlushKeys() const {
  if (flush_keys_ != 0) return flush_keys_;
  TableSum level0;
  for (const Table& table : tables_) {
    if (table.state == State::kLive && table.level == 0) level0.Add(table.keys, table.filter_bytes);
  }
  return level0.keys / std::max<std::uint64_t>(1, level0.tables);
}

std::vector<Tree::ListedTables> Tree::ListAll() const {
  constexpr double kClassesPerBit = 4.0;
  constexpr double kMostBits = 1000.0;  // which few keys may have
  std::map<std::tuple<std::pair<int, int>, int, std::optional<bool>>, TableSum> all;
  for (const Table& table : tables_) {
    if (table.state != State::kLive) continue;
    const double bits = 8.0 * Real(table.filter_bytes) / std::max(1.0, Real(table.keys));
    const int bits_class = static_cast<int>(kClassesPerBit * std::min(bits, kMostBits));
    all[{Place(table.level, table.keys), bits_class, table.ribbon}].Add(table.keys,
                                                                        table.filter_bytes);
  }
  std::vector<ListedTables> listed;
  listed.reserve(all.size());
  for (const auto& [alike, sum] : all) {
    const auto& [place, bits_class, ribbon] = alike;
    listed.push_back({place.first, place.second, ribbon, sum});
  }
  return listed;
}

}  // namespace exactbloom::tree
