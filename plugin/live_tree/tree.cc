#include "tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

std::pair<int, int> Place(int level, std::uint64_t keys) {
  return {level, level == 0 ? SizeClass(Real(keys)) : 0};
}

std::vector<std::uint64_t> SortedNumbers(const std::vector<EventFile>& files) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(files.size());
  for (const EventFile& file : files) numbers.push_back(file.number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool Has(const std::vector<std::uint64_t>& sorted, std::uint64_t number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

}  // namespace

int SizeClass(double keys) {
  constexpr double kClassesPerDoubling = 8.0;
  return static_cast<int>(kClassesPerDoubling * std::log2(keys + 1.0));
}

std::vector<analysis::EqualRuns> ListRuns(const RunSums& sums, bool ribbon) {
  std::vector<analysis::EqualRuns> runs;
  runs.reserve(sums.size());
  for (const auto& [place, sum] : sums) {
    if (sum.keys == 0) continue;
    const double count = place.first == 0 ? Real(sum.tables) : 1.0;
    runs.push_back({Real(sum.keys) / count, count, ribbon});
  }
  return runs;
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

const Tree::RunningJob* Tree::Find(JobId job) const {
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& known) { return known.id == job; });
  return found == jobs_.end() ? nullptr : &*found;
}

const Tree::Table* Tree::FindLive(std::uint64_t number) const {
  const auto found =
      std::lower_bound(live_.begin(), live_.end(), number,
                       [](const Table& table, std::uint64_t n) { return table.number < n; });
  return found != live_.end() && found->number == number ? &*found : nullptr;
}

Tree::Table* Tree::FindMaking(std::uint64_t number) {
  const auto found = std::find_if(making_.begin(), making_.end(),
                                  [&](const Table& table) { return table.number == number; });
  return found == making_.end() ? nullptr : &*found;
}

bool Tree::IsExact(std::uint64_t number) const {
  const Table* const table = FindLive(number);
  return table != nullptr && table->is_exact;
}

// Makes the table live and returns it; returns null if it is gone.
Tree::Table* Tree::Install(const EventFile& file) {
  if (Table* const known = FindLive(file.number)) {
    if (file.facts && !known->is_exact) {
      known->Learn(file.facts);
      known->changed = live_change_ = ++change_;
    }
    return known;
  }
  if (gone_.count(file.number) != 0) return nullptr;
  if (live_.size() == live_.capacity()) live_.reserve(2 * live_.size() + 1);
  Table table;
  if (Table* const making = FindMaking(file.number)) {
    table = *making;
    making_.erase(making_.begin() + (making - making_.data()));
  }
  table.number = file.number;
  table.level = file.level;
  table.Learn(file.facts);
  table.changed = live_change_ = ++change_;
  return &*live_.insert(
      std::upper_bound(live_.begin(), live_.end(), file.number,
                       [](std::uint64_t n, const Table& other) { return n < other.number; }),
      table);
}

//   numbers   are sorted
void Tree::DiscardLive(const std::vector<std::uint64_t>& numbers) {
  ++change_;
  const auto replaced = std::remove_if(
      live_.begin(), live_.end(), [&](const Table& table) { return Has(numbers, table.number); });
  if (replaced != live_.end()) live_change_ = change_;
  live_.erase(replaced, live_.end());
  for (const std::uint64_t number : numbers) gone_[number] = change_;
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
  constexpr std::size_t kFew = 1024;
  if (gone_.size() < std::max(kFew, most_gone_)) return;
  std::uint64_t oldest = listing_began_.value_or(std::numeric_limits<std::uint64_t>::max());
  for (const RunningJob& job : jobs_) oldest = std::min(oldest, job.began);
  for (auto gone = gone_.begin(); gone != gone_.end();) {
    gone = gone->second < oldest ? gone_.erase(gone) : std::next(gone);
  }
  most_gone_ = 2 * gone_.size();
}

void Tree::BeginJob(const Job& job, int first_level, const std::vector<EventFile>& inputs) {
  if (Find(job.id) != nullptr) return;
  ForgetLostJobs(job.thread, job.id);
  RunningJob begun;
  static_cast<Job&>(begun) = job;
  begun.began = ++change_;
  for (const EventFile& input : inputs) {
    const Table* const table = Install(input);
    if (table == nullptr) continue;
    // CompactRange with change_level moves tables without an event if it has none to rewrite.
    is_stale_ |= table->level < first_level || table->level > job.output_level;
    begun.inputs.push_back(input.number);
  }
  std::sort(begun.inputs.begin(), begun.inputs.end());
  jobs_.push_back(std::move(begun));
}

void Tree::StartTable(std::uint64_t number, JobId job) {
  if (gone_.count(number) != 0 || FindLive(number) != nullptr || FindMaking(number) != nullptr) {
    return;
  }
  Table table;
  table.number = number;
  table.writer = job;
  table.changed = ++change_;
  making_.push_back(table);
}

void Tree::SetFilter(std::uint64_t number, std::uint64_t bytes, bool is_ribbon, bool is_floor) {
  Table* const table = FindMaking(number);
  if (table == nullptr || table->is_exact) return;
  table->filter_bytes = bytes;
  table->ribbon = is_ribbon;
  table->is_floor = is_floor;
}

void Tree::FinishTable(std::uint64_t number, JobId job, const TableFacts& facts) {
  StartTable(number, job);
  Table* const making = FindMaking(number);
  Table* const table = making != nullptr ? making : FindLive(number);
  if (table == nullptr) return;
  table->Learn(facts);
  table->changed = ++change_;
  if (making == nullptr) live_change_ = change_;
  is_stale_ |= Find(job) == nullptr;
}

void Tree::EndJob(JobId job, const std::vector<EventFile>& inputs,
                  const std::vector<EventFile>& outputs) {
  const RunningJob* const known = Find(job);
  const bool is_flush = known != nullptr && known->is_flush;
  is_stale_ |= known == nullptr;
  const std::vector<std::uint64_t> written = SortedNumbers(outputs);
  LearnMovedPart(inputs, written);
  std::vector<std::uint64_t> replaced = SortedNumbers(inputs);
  replaced.erase(std::remove_if(replaced.begin(), replaced.end(),
                                [&](std::uint64_t number) { return Has(written, number); }),
                 replaced.end());
  const TableSum read = SumLive(replaced);
  for (const EventFile& output : outputs) InstallOutput(output, read, outputs.size());
  if (is_flush) LearnFlushKeys(written);
  LearnKeptPart(read, written);
  if (!replaced.empty()) DiscardLive(replaced);
  CancelJob(job);
}

void Tree::InstallOutput(const EventFile& output, const TableSum& read, std::size_t outputs) {
  Table* const table = Install(output);
  if (table == nullptr) return;
  // Tables move down only, except by CompactRange with change_level, after which there is a
  // listing.
  if (table->level < output.level) {
    table->level = output.level;
    table->changed = live_change_ = ++change_;
  }
  // The worker of a compaction service tells no properties; the next listing estimates them.
  if (!table->is_exact && table->keys == 0) {
    table->keys = read.keys / outputs;
    table->filter_bytes = read.filter_bytes / outputs;
  }
}

TableSum Tree::SumLive(const std::vector<std::uint64_t>& numbers) const {
  TableSum sum;
  for (const std::uint64_t number : numbers) {
    const Table* const table = FindLive(number);
    if (table != nullptr) sum.Add(table->keys, table->filter_bytes);
  }
  return sum;
}

void Tree::LearnMovedPart(const std::vector<EventFile>& inputs,
                          const std::vector<std::uint64_t>& written) {
  double keys = 0.0;
  double moved_keys = 0.0;
  for (const EventFile& input : inputs) {
    const Table* const table = FindLive(input.number);
    if (table == nullptr || table->level != 0) continue;
    keys += Real(table->keys);
    if (Has(written, input.number)) moved_keys += Real(table->keys);
  }
  if (keys != 0.0) moved_part_ = (moved_part_ + moved_keys / keys) / 2.0;
}

void Tree::LearnFlushKeys(const std::vector<std::uint64_t>& written) {
  const std::uint64_t keys = SumLive(written).keys;
  if (keys != 0) flush_keys_ = flush_keys_ == 0 ? keys : (flush_keys_ + keys) / 2;
}

void Tree::LearnKeptPart(const TableSum& read, const std::vector<std::uint64_t>& written) {
  const bool are_known = std::all_of(written.begin(), written.end(),
                                     [&](std::uint64_t number) { return IsExact(number); });
  if (!are_known || read.keys == 0 || written.empty()) return;
  const double part = std::min(1.0, Real(SumLive(written).keys) / Real(read.keys));
  const auto [mean, is_first] = kept_part_.try_emplace(FindLive(written[0])->level, part);
  if (!is_first) mean->second = (mean->second + part) / 2.0;
}

void Tree::CancelJob(JobId job) {
  const RunningJob* const known = Find(job);
  if (known == nullptr) return;
  jobs_.erase(jobs_.begin() + (known - jobs_.data()));
  const auto abandoned = std::partition(making_.begin(), making_.end(),
                                        [&](const Table& table) { return table.writer != job; });
  std::vector<Table> tables(abandoned, making_.end());
  making_.erase(abandoned, making_.end());
  for (const Table& table : tables) gone_[table.number] = ++change_;
  ForgetGone();
}

void Tree::Drop(std::uint64_t number) {
  if (Table* const table = FindMaking(number))
    making_.erase(making_.begin() + (table - making_.data()));
  if (FindLive(number) == nullptr) {
    gone_[number] = ++change_;
  } else {
    is_stale_ = true;
    DiscardLive({number});
  }
  ForgetGone();
}

void Tree::BeginListing() {
  is_stale_ = false;
  listing_began_ = change_;
}

void Tree::Replace(const Listing& listing, double bits_per_key) {
  if (!listing_began_) return;
  std::vector<Table> merged;
  merged.reserve(listing.files.size() + live_.size());
  std::vector<std::uint64_t> lost;
  auto known = live_.begin();
  const auto keep_until = [&](std::uint64_t number) {
    for (; known != live_.end() && known->number < number; ++known) {
      if (known->changed > *listing_began_) {
        merged.push_back(*known);
      } else {
        lost.push_back(known->number);
      }
    }
  };
  for (const Listing::File& file : listing.files) {
    keep_until(file.number);
    const bool is_known = known != live_.end() && known->number == file.number;
    if (!is_known && gone_.count(file.number) != 0) continue;
    Table& table = merged.emplace_back();
    if (is_known) {
      table = *known++;
    } else if (const Table* const making = FindMaking(file.number)) {
      table = *making;
    }
    if (is_known && table.changed > *listing_began_) continue;
    table.number = file.number;
    table.level = file.level;
    table.changed = change_ + 1;
  }
  keep_until(std::numeric_limits<std::uint64_t>::max());
  for (const std::uint64_t number : lost) gone_[number] = change_ + 1;
  live_ = std::move(merged);
  live_change_ = ++change_;
  making_.erase(
      std::remove_if(making_.begin(), making_.end(),
                     [&](const Table& table) { return FindLive(table.number) != nullptr; }),
      making_.end());
  Estimate(listing, bits_per_key);
  listing_began_.reset();
  ForgetGone();
}

template <typename Function>
void Tree::ForEachListed(const Listing& listing, Function function) {
  auto table = live_.begin();
  for (const Listing::File& file : listing.files) {
    while (table != live_.end() && table->number < file.number) ++table;
    if (table != live_.end() && table->number == file.number) function(*table, file);
  }
}

void Tree::Learn(const Listing& listing, double bits_per_key) {
  ForEachListed(listing, [](Table& table, const Listing::File& file) { table.Learn(file.facts); });
  live_change_ = ++change_;
  Estimate(listing, bits_per_key);
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
  ForEachListed(listing, [&](const Table& table, const Listing::File& file) {
    if (!table.is_exact || table.keys == 0) return;
    for (Known* known : {&all, &levels[file.level]}) {
      known->keys += Real(table.keys);
      known->entries += entries_of(file);
      known->filter_bytes += Real(table.filter_bytes);
      known->is_sampled |= file.facts.has_value();
    }
  });
  ForEachListed(listing, [&](Table& table, const Listing::File& file) {
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

RunSums Tree::Runs(const std::vector<std::uint64_t>& without, TableSum* left_out) const {
  RunSums runs;
  auto next = without.begin();
  for (const Table& table : live_) {
    while (next != without.end() && *next < table.number) ++next;
    if (next != without.end() && *next == table.number) {
      left_out->Add(table.keys, table.filter_bytes);
      continue;
    }
    // RocksDB asks no policy for a table that gets no filter, and lookups ask none of no key.
    const bool is_asked = table.keys != 0 && table.filter_bytes != 0;
    if (is_asked) runs[Place(table.level, table.keys)].Add(table.keys, table.filter_bytes);
  }
  return runs;
}

Tree::Bytes Tree::FilterBytes() const {
  Bytes bytes;
  for (const std::vector<Table>* tables : {&live_, &making_}) {
    for (const Table& table : *tables) {
      bytes.all += table.filter_bytes;
      bytes.of_floors += table.is_floor ? table.filter_bytes : 0;
    }
  }
  return bytes;
}

std::uint64_t Tree::TablesWithoutFilter() const {
  return static_cast<std::uint64_t>(
      std::count_if(live_.begin(), live_.end(), [](const Table& table) {
        return 8.0 * Real(table.filter_bytes) < kMinBitsPerKey * Real(table.keys);
      }));
}

// CompactFiles() reports neither its begin nor its end. It may read all tables down to its level.
std::vector<std::uint64_t> Tree::InputsDownTo(int level) const {
  std::vector<std::uint64_t> inputs;
  for (const Table& table : live_) {
    if (level != 0 && table.level <= level) inputs.push_back(table.number);
  }
  return inputs;
}

TreeView Tree::For(JobId id, int level, std::uint64_t keys, bool ribbon) const {
  TreeView view;
  const RunningJob* const job = Find(id);
  const bool is_flush = job == nullptr ? level == 0 : job->is_flush;
  const int output_level = job == nullptr ? level : job->output_level;
  const std::vector<std::uint64_t> inputs = job == nullptr ? InputsDownTo(level) : job->inputs;
  TableSum read;
  RunSums others = Runs(inputs, &read);
  TableSum written;
  for (const Table& table : making_) {
    if (table.is_exact && table.writer == id) written.Add(table.keys, table.filter_bytes);
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
  view.other_filter_bytes = view.written_filter_bytes;
  // A flushed table that will move down as it is belongs to the largest run from the beginning: no
  // key is in any other run's range, too.
  const bool moves_down = is_flush && moved_part_ > kMovesDown;
  for (auto run = others.begin(); run != others.end();) {
    const auto& [place, sum] = *run;
    view.other_filter_bytes += Real(sum.filter_bytes);
    const bool is_own =
        moves_down || (!is_flush && place.first != 0 && place.first == output_level);
    if (is_own) view.own_keys += Real(sum.keys);
    run = is_own ? others.erase(run) : std::next(run);
  }
  view.other_runs = ListRuns(others, ribbon);
  return view;
}

std::uint64_t Tree::FlushKeys() const {
  if (flush_keys_ != 0) return flush_keys_;
  TableSum level0;
  for (const Table& table : live_) {
    if (table.level == 0) level0.Add(table.keys, table.filter_bytes);
  }
  return level0.keys / std::max<std::uint64_t>(1, level0.tables);
}

std::vector<Tree::ListedTables> Tree::ListAll() const {
  constexpr double kClassesPerBit = 4.0;
  constexpr double kMostBits = 1000.0;  // which few keys may have
  std::map<std::tuple<std::pair<int, int>, int, std::optional<bool>>, TableSum> all;
  for (const Table& table : live_) {
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
