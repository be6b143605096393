#include "shared_keys.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "exactbloom/table_filters.h"
#include "support/progress.h"
#include "tool/database/database_files.h"
#include "tool/database/filter_fill.h"
#include "tool/database/filter_walk.h"
#include "tool/database/key_ranges.h"
#include "tool/database/table_keys.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;

// Of one table. More would not narrow the interval by much.
constexpr std::uint64_t kMostKeysOfTable = 50'000;

struct Table {
  TableLocation location;
  TableFilter filter;

  std::uint64_t Keys() const {
    return filter.entries - std::min(filter.entries, filter.range_deletes);
  }
};

// Why the filter cannot be asked for whole keys; empty if it can.
std::string WhyNotAsked(const TableFilter& filter) {
  if (!filter.status.ok()) return "the table cannot be read";
  if (filter.family == FilterFamily::kNone) return "there is no filter";
  if (filter.family == FilterFamily::kUnknown) return "the filter is of an unknown format";
  if (filter.family == FilterFamily::kLegacyBloom) {
    return "the rate of Bloom filters of RocksDB's older format is not known";
  }
  return filter.whole_key_filtering ? "" : "the filter has prefixes only";
}

// A run, asked for keys in their order.
class AskedRun {
 public:
  explicit AskedRun(const std::vector<const Table*>& tables) : tables_(tables) {}

  // From the first table again.
  void Restart() {
    table_ = 0;
    walk_.reset();
    is_open_ = false;
  }

  // Returns x, as above; nothing if the filter cannot be asked. `order` of the keys.
  std::optional<double> Ask(const Slice& key, const TableKeys& keys) {
    const rocksdb::Comparator& order = keys.Order();
    while (table_ < tables_.size() && EndsBefore(tables_[table_]->location, key, keys)) {
      ++table_;
      walk_.reset();
      is_open_ = false;
    }
    if (table_ == tables_.size()) return 0.0;
    const Table& table = *tables_[table_];
    const bool has_range = !table.location.smallest.empty();
    if (has_range && order.CompareWithoutTimestamp(key, /*a_has_ts=*/false, table.location.smallest,
                                                   keys.HaveTimestamps()) < 0) {
      return 0.0;
    }
    if (!MoveTo(table, key, keys)) return std::nullopt;
    const double passes = walk_->MayMatch(key) ? 1.0 : 0.0;
    return rate_ < 1.0 ? std::optional((passes - rate_) / (1.0 - rate_)) : std::nullopt;
  }

  // The variance of x for a key that is not there.
  double Noise() const { return rate_ < 1.0 ? rate_ / (1.0 - rate_) : 0.0; }

 private:
  static bool EndsBefore(const TableLocation& table, const Slice& key, const TableKeys& keys) {
    return !table.largest.empty() &&
           keys.Order().CompareWithoutTimestamp(table.largest, keys.HaveTimestamps(), key,
                                                /*b_has_ts=*/false) < 0;
  }

  // Whether the filter block for the key is at hand.
  bool MoveTo(const Table& table, const Slice& key, const TableKeys& keys) {
    if (!is_open_) {
      is_open_ = true;
      walk_ = std::make_unique<FilterWalk>();
      const bool opens = WhyNotAsked(table.filter).empty() &&
                         walk_->Open(table.location.path, keys.Order(), keys.HaveTimestamps()).ok();
      if (!opens) walk_.reset();
    }
    if (walk_ == nullptr) return false;
    if (walk_->HasBlock() && walk_->IsFor(key)) return true;
    if (!walk_->MoveTo(key).ok()) {
      walk_.reset();
      return false;
    }
    rate_ = MeasureBlock(walk_->Contents()).rate;
    return true;
  }

  const std::vector<const Table*>& tables_;
  std::size_t table_ = 0;
  bool is_open_ = false;  // was tried to be
  std::unique_ptr<FilterWalk> walk_;
  double rate_ = 0.0;  // of the block at hand
};

// The mean of x over a run's keys, from some of its tables, all or some keys of each.
class Tally {
 public:
  void BeginTable() { tables_.emplace_back(); }

  void Add(double x, double noise) {
    Sum& table = tables_.back();
    table.keys += 1.0;
    table.sum += x;
    table.squares += x * x;
    noise_ += noise;
  }

  // Of a run of so many keys in so many tables.
  KeysEstimate EstimateOf(double keys, double tables) const {
    Sum all;
    for (const Sum& table : tables_) {
      all.keys += table.keys;
      all.sum += table.sum;
      all.squares += table.squares;
    }
    if (all.keys == 0.0) return {0.0, {0.0, keys}};
    const double mean = all.sum / all.keys;
    const double half = kZ999 * keys * std::sqrt(VarianceOf(all, mean, keys, tables));
    const auto cut = [keys](double value) { return std::clamp(value, 0.0, keys); };
    return {cut(keys * mean), {cut(keys * mean - half), cut(keys * mean + half)}};
  }

 private:
  struct Sum {
    double keys = 0.0;
    double sum = 0.0;
    double squares = 0.0;
  };

  // Of the mean: by the filters' rates, by the keys left out, and by the tables left out
  // (Cochran, Sampling Techniques, 3rd edition, 9A.1).
  double VarianceOf(const Sum& all, double mean, double keys, double tables) const {
    const double spread = std::max(0.0, all.squares / all.keys - mean * mean);
    double variance = noise_ / (all.keys * all.keys);
    variance += std::max(0.0, 1.0 - all.keys / keys) * spread / all.keys;
    const auto drawn = static_cast<double>(tables_.size());
    if (drawn >= tables) return variance;
    if (drawn < 2.0) return 1.0;
    double between = 0.0;
    for (const Sum& table : tables_) {
      const double deviation = table.sum - mean * table.keys;
      between += deviation * deviation;
    }
    const double per_table = all.keys / drawn;
    return variance +
           (1.0 - drawn / tables) * between / (drawn * (drawn - 1.0) * per_table * per_table);
  }

  std::vector<Sum> tables_;
  double noise_ = 0.0;
};

// The sorted runs of one column family, the newest first.
class FamilySharing {
 public:
  FamilySharing(const std::vector<std::vector<const Table*>>& runs, std::uint64_t tables_per_run)
      : runs_(runs), tables_per_run_(tables_per_run) {}

  void AddTo(SharedKeys* all) {
    const std::size_t first = all->runs.size();
    for (std::size_t older = 0; older < runs_.size(); ++older) {
      Compare(older);
      AddRun(older, all);
      for (std::size_t newer = 0; newer < older; ++newer) AddPair(first, newer, older, all);
    }
  }

 private:
  // Asks the newer runs for keys of a run.
  void Compare(std::size_t older) {
    pairs_.assign(older, Tally());
    asked_.assign(older, 0);
    obsolete_ = Tally();
    sampled_ = 0;
    std::vector<AskedRun> newer(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(older));
    std::vector<const Table*> tables = runs_[older];
    std::mt19937_64 random;  // the same tables each time
    std::shuffle(tables.begin(), tables.end(), random);
    if (tables.size() > tables_per_run_) tables.resize(tables_per_run_);
    for (const Table* table : tables) {
      support::CheckForInterrupts();
      if (older != 0) CompareTable(*table, newer);
    }
  }

  void CompareTable(const Table& table, std::vector<AskedRun>& newer) {
    std::unique_ptr<TableKeys> keys;
    if (!table.filter.status.ok() || !TableKeys::Open(table.location.path, &keys).ok()) return;
    obsolete_.BeginTable();
    for (Tally& pair : pairs_) pair.BeginTable();
    for (AskedRun& run : newer) run.Restart();
    const std::uint64_t step = table.Keys() / kMostKeysOfTable + 1;
    for (std::uint64_t i = 0; keys->Valid(); keys->Next(), ++i) {
      if (i % step == 0) AskAll(keys->Key(), *keys, newer);
    }
  }

  void AskAll(const Slice& key, const TableKeys& keys, std::vector<AskedRun>& newer) {
    double not_newer = 1.0;  // 1 - x of any of them
    double noise = 0.0;
    for (std::size_t i = 0; i < newer.size(); ++i) {
      const std::optional<double> x = newer[i].Ask(key, keys);
      if (!x) continue;
      pairs_[i].Add(*x, newer[i].Noise());
      ++asked_[i];
      not_newer *= 1.0 - *x;
      noise += newer[i].Noise();
    }
    obsolete_.Add(1.0 - not_newer, noise);
    ++sampled_;
  }

  void AddRun(std::size_t place, SharedKeys* all) const {
    const std::vector<const Table*>& tables = runs_[place];
    RunKeys& run = all->runs.emplace_back();
    run.column_family = tables.front()->location.column_family;
    run.level = tables.front()->location.level;
    if (run.level <= 0) run.file = tables.front()->location.path;
    run.tables = tables.size();
    for (const Table* table : tables) {
      run.keys += table->Keys();
      run.bytes += table->filter.file_bytes;
    }
    run.sampled = sampled_;
    if (place == 0) return;
    run.obsolete = EstimateOf(obsolete_, run);
    run.obsolete_bytes = run.obsolete.keys / std::max(1.0, static_cast<double>(run.keys)) *
                         static_cast<double>(run.bytes);
  }

  void AddPair(std::size_t first, std::size_t newer, std::size_t older, SharedKeys* all) const {
    RunPair& pair = all->pairs.emplace_back();
    pair.newer = first + newer;
    pair.older = first + older;
    pair.shared = EstimateOf(pairs_[newer], all->runs.back());
    pair.asked = static_cast<double>(asked_[newer]) / std::max(1.0, static_cast<double>(sampled_));
  }

  static KeysEstimate EstimateOf(const Tally& tally, const RunKeys& run) {
    return tally.EstimateOf(static_cast<double>(run.keys), static_cast<double>(run.tables));
  }

  const std::vector<std::vector<const Table*>>& runs_;
  std::uint64_t tables_per_run_;
  // Of the older run at hand.
  std::vector<Tally> pairs_;
  std::vector<std::uint64_t> asked_;
  Tally obsolete_;
  std::uint64_t sampled_ = 0;
};

using Families = std::map<std::string, std::vector<std::vector<const Table*>>>;

// Each table of level 0, and each file alone, is a run.
Families RunsOf(const std::vector<Table>& tables) {
  std::vector<const TableLocation*> locations;
  locations.reserve(tables.size());
  for (const Table& table : tables) locations.push_back(&table.location);
  Families families;
  const Table* before = nullptr;
  for (const std::size_t place : OrderInTree(locations)) {
    const Table& table = tables[place];
    auto& runs = families[table.location.column_family];
    const bool goes_on = before != nullptr && table.location.level > 0 &&
                         before->location.level == table.location.level &&
                         before->location.column_family == table.location.column_family;
    if (!goes_on) runs.emplace_back();
    runs.back().push_back(&table);
    before = &table;
  }
  return families;
}

}  // namespace

SharedKeys FindSharedKeys(const std::vector<std::string>& paths, std::uint64_t tables_per_run) {
  const auto read = ReadTables<TableFilter>(paths, "reading filters", [](const auto& table) {
    TableFilter filter;
    ReadTableFilter(*rocksdb::FileSystem::Default(), table.path, &filter);  // sets its status
    return filter;
  });
  SharedKeys shared;
  std::vector<Table> tables;
  for (const auto& [location, filter] : read.tables) {
    Table& table = tables.emplace_back(Table{location, filter});
    if (read.database.empty()) table.location.column_family = filter.column_family;
    if (!filter.status.ok()) shared.unreadable.push_back(Describe(filter.status));
    const std::string reason = WhyNotAsked(filter);
    if (!reason.empty()) ++shared.not_asked[reason];
  }
  for (const auto& [name, runs] : RunsOf(tables)) {
    FamilySharing(runs, tables_per_run).AddTo(&shared);
  }
  return shared;
}

}  // namespace exactbloom::tool
