#include "shared_keys.h"

#include <fmt/format.h>
#include <rocksdb/comparator.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "src/model/sorted_runs.h"
#include "sst/regular_files.h"
#include "sst/table_filters.h"
#include "support/errors.h"
#include "support/progress.h"
#include "tool/database/database_files.h"
#include "tool/database/filter_blocks.h"
#include "tool/database/filter_fill.h"
#include "tool/database/table_keys.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// A filter that lets more keys pass tells less than it disturbs.
constexpr double kMostRate = 0.5;

struct ReadTable {
  TableLocation location;
  TableFilter filter;
};

using Run = std::vector<const ReadTable*>;  // in the order of its keys

// The tables that could not be asked or read, by the reason, and whether one was removed meanwhile.
struct Omissions {
  std::map<std::string, std::set<std::string>> not_asked;
  std::map<std::string, std::set<std::string>> not_read;
  bool gone = false;
};

// Why the filter cannot be asked for whole keys; empty if it can.
std::string WhyNotAsked(const TableFilter& filter) {
  if (!filter.status.ok()) return "the table cannot be read";
  if (filter.family == FilterFamily::kNone) return "there is no filter";
  if (filter.family == FilterFamily::kBlockBased) return "there is a filter per data block";
  return filter.whole_key_filtering ? "" : "the filter has prefixes only";
}

std::string WhyNotAsked(const BlockFill& block) {
  if (block.filter.family == FilterFamily::kLegacyBloom) {
    return "the rate of RocksDB's older Bloom filters is not known";
  }
  return block.rate > kMostRate ? "the filter lets more than half of all keys pass" : "";
}

// The share of keys that pass; 0 where a key cannot be.
struct Answer {
  bool passes = false;
  double rate = 0.0;
};

// A run, asked for keys in their order.
class AskedRun {
 public:
  AskedRun(const Run& tables, Omissions* omissions) : tables_(tables), omissions_(omissions) {}

  // Nothing if no filter can be asked. `keys` are those of the table that has the key.
  std::optional<Answer> Ask(const Slice& key, const TableKeys& keys) {
    while (table_ < tables_.size() && Compare(key, tables_[table_]->location.largest, keys) > 0) {
      ++table_;
      filter_.reset();
      is_open_ = false;
    }
    const bool is_outside = table_ == tables_.size() ||
                            tables_[table_]->filter.PointEntries() == 0 ||
                            Compare(key, tables_[table_]->location.smallest, keys) < 0;
    if (is_outside) return Answer{};
    if (!is_open_) Open(keys);
    if (filter_ != nullptr && !filter_->IsFor(key)) MoveTo(key);
    if (filter_ == nullptr || !is_useful_) return std::nullopt;
    return Answer{filter_->MayMatch(key), rate_};
  }

 private:
  static int Compare(const Slice& key, const std::string& end, const TableKeys& keys) {
    return keys.Order().CompareWithoutTimestamp(key, /*a_has_ts=*/false, end,
                                                keys.HaveTimestamps());
  }

  void Open(const TableKeys& keys) {
    is_open_ = true;
    const ReadTable& table = *tables_[table_];
    const std::string reason = WhyNotAsked(table.filter);
    if (!reason.empty()) return LeaveOut(reason);
    filter_ = std::make_unique<FilterBlocks>();
    const Status status = filter_->Open(table.location.path, keys.Order(), keys.HaveTimestamps());
    if (status.ok() && !filter_->HasNoKeys()) return;
    filter_.reset();
    if (status.ok()) return LeaveOut("the filter has no keys");
    if (status.IsNotSupported()) return LeaveOut("the filter is one of another policy");
    Fail(status);
  }

  void MoveTo(const Slice& key) {
    const Status status = filter_->MoveTo(key);
    if (!status.ok()) {
      filter_.reset();
      return Fail(status);
    }
    const BlockFill block = MeasureBlock(filter_->Contents());
    rate_ = block.rate;
    const std::string reason = WhyNotAsked(block);
    is_useful_ = reason.empty();
    if (!is_useful_) LeaveOut(reason);
  }

  void Fail(const Status& status) {
    if (status.IsPathNotFound()) omissions_->gone = true;
    LeaveOut("the filter cannot be read");
  }

  void LeaveOut(const std::string& reason) {
    omissions_->not_asked[reason].insert(tables_[table_]->location.path);
  }

  const Run& tables_;
  Omissions* omissions_;
  std::size_t table_ = 0;  // the first that does not end before the latest key
  bool is_open_ = false;   // its filter was opened, or cannot be
  std::unique_ptr<FilterBlocks> filter_;
  // Of the block at hand.
  double rate_ = 0.0;
  bool is_useful_ = false;
};

std::uint64_t KeysOf(const Run& tables) {
  std::uint64_t keys = 0;
  for (const ReadTable* table : tables) keys += table->filter.PointEntries();
  return keys;
}

// Asks the newer runs for keys of an older one.
class Comparison {
 public:
  // The runs must outlive the object; `older` is the place of the older one.
  Comparison(const std::vector<Run>& runs, std::size_t older, Omissions* omissions)
      : run_(runs[older]), omissions_(omissions), pairs_(older) {
    for (std::size_t i = 0; i < older; ++i) newer_.emplace_back(runs[i], omissions);
  }

  void Read(support::Progress& progress) {
    for (const ReadTable* table : run_) {
      Status status = table->filter.status;
      try {
        if (status.ok()) status = AskForKeysOf(*table);
      } catch (const std::exception& error) {  // a block of more than a gigabyte
        status = Status::MemoryLimit(error.what());
      }
      if (!status.ok()) Fail(*table, status);
      progress.Add(1);
    }
  }

  KeysEstimate Obsolete() const { return Estimate(obsolete_); }
  KeysEstimate SharedWith(std::size_t newer) const { return Estimate(pairs_[newer]); }

  // The share of the keys for which a newer run could be asked.
  double AskedOf(std::size_t newer) const {
    const RunAnswers& pair = pairs_[newer];
    return pair.asked == 0.0 ? 0.0 : 1.0 - pair.unknown / pair.asked;
  }

 private:
  Status AskForKeysOf(const ReadTable& table) {
    std::unique_ptr<TableKeys> keys;
    Status status = TableKeys::Open(table.location.path, &keys);
    if (!status.ok()) return status;
    for (; keys->Valid(); keys->Next()) AskFor(keys->Key(), *keys);
    return keys->status();
  }

  void Fail(const ReadTable& table, const Status& status) {
    if (status.IsPathNotFound()) omissions_->gone = true;
    const std::string reason = status.IsNotSupported() ? status.getState() : "it cannot be read";
    omissions_->not_read[reason].insert(table.location.path);
  }

  // A key is obsolete if any newer run has it. Together their filters are one, which lets a key
  // pass that any of them does: another passes none with the product of 1 - f.
  void AskFor(const Slice& key, const TableKeys& keys) {
    constexpr double kLeast = 1e-3;  // of that product
    bool passes = false;
    bool is_known = true;
    double passes_none = 1.0;
    for (std::size_t i = 0; i < newer_.size(); ++i) {
      const std::optional<Answer> answer = newer_[i].Ask(key, keys);
      RunAnswers& pair = pairs_[i];
      if (answer) {
        pair.Add(answer->passes, answer->rate);
      } else {
        pair.Add(false, 0.0);
        pair.unknown += 1.0;
      }
      if (!answer || passes_none * (1.0 - answer->rate) < kLeast) {
        is_known = false;
        continue;
      }
      passes = passes || answer->passes;
      passes_none *= 1.0 - answer->rate;
    }
    obsolete_.Add(passes, 1.0 - passes_none);
    if (!passes && !is_known) obsolete_.unknown += 1.0;
  }

  KeysEstimate Estimate(const RunAnswers& answers) const {
    return EstimateShared(answers, static_cast<double>(KeysOf(run_)));
  }

  const Run& run_;
  Omissions* omissions_;
  std::vector<AskedRun> newer_;
  std::vector<RunAnswers> pairs_;  // of each newer run
  RunAnswers obsolete_;
};

// The sorted runs of each column family, the newest first.
std::map<std::string, std::vector<Run>> RunsOf(const std::vector<ReadTable>& tables) {
  std::map<std::string, Run> families;
  for (const ReadTable& table : tables) families[table.location.column_family].push_back(&table);
  std::map<std::string, std::vector<Run>> runs;
  for (const auto& [name, members] : families) {
    std::vector<model::Table> listed;
    for (const ReadTable* member : members) listed.push_back(member->location);
    const model::SortedRuns sorted(std::move(listed), std::vector<double>(members.size()),
                                   OrderOf(members.front()->location.comparator));
    for (const std::vector<std::size_t>& places : sorted.Runs()) {
      Run& run = runs[name].emplace_back();
      for (const std::size_t place : places) run.push_back(members[place]);
    }
  }
  return runs;
}

RunKeys DescribeRun(const Run& tables) {
  RunKeys run;
  const TableLocation& first = tables.front()->location;
  run.column_family = first.column_family;
  run.level = first.level;
  if (run.level == 0) run.file = first.path;
  run.tables = tables.size();
  run.keys = KeysOf(tables);
  for (const ReadTable* table : tables) run.bytes += table->filter.file_bytes;
  return run;
}

void AddFamily(const std::vector<Run>& runs, support::Progress& progress, Omissions* omissions,
               SharedKeys* shared) {
  const std::size_t first = shared->runs.size();
  for (std::size_t older = 0; older < runs.size(); ++older) {
    RunKeys& run = shared->runs.emplace_back(DescribeRun(runs[older]));
    if (older == 0) continue;
    Comparison comparison(runs, older, omissions);
    comparison.Read(progress);
    run.obsolete = comparison.Obsolete();
    for (std::size_t newer = 0; newer < older; ++newer) {
      shared->pairs.push_back(
          {first + newer, first + older, comparison.SharedWith(newer), comparison.AskedOf(newer)});
    }
  }
}

std::map<std::string, std::uint64_t> CountOf(
    const std::map<std::string, std::set<std::string>>& tables) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [reason, paths] : tables) counts[reason] = paths.size();
  return counts;
}

// Reads the database once. `gone`: whether it removed a table meanwhile.
SharedKeys ReadOnce(const std::vector<std::string>& paths, const std::string& column_family,
                    bool* gone) {
  const auto read = ReadTables<TableFilter>(paths, "reading filters", [](const auto& table) {
    TableFilter filter;
    ReadTableFilter(*files::RegularFiles(), table.path, &filter);  // sets its status
    return filter;
  });
  if (read.database.empty()) {
    throw support::InputError("overlap takes a database: table files alone have no age");
  }
  SharedKeys shared;
  std::vector<ReadTable> tables;
  for (const auto& [location, filter] : read.tables) {
    if (!column_family.empty() && location.column_family != column_family) continue;
    tables.push_back({location, filter});
    if (!filter.status.ok()) shared.unreadable.push_back(Describe(filter.status));
  }
  if (tables.empty() && !column_family.empty()) {
    throw support::InputError(
        fmt::format("{} has no tables of column family {}", read.database, column_family));
  }
  const std::map<std::string, std::vector<Run>> families = RunsOf(tables);
  std::uint64_t older = 0;
  for (const auto& [name, runs] : families) {
    for (std::size_t i = 1; i < runs.size(); ++i) older += runs[i].size();
  }
  support::Progress progress;
  progress.Begin("asking filters", older);
  Omissions omissions;
  for (const auto& [name, runs] : families) AddFamily(runs, progress, &omissions, &shared);
  shared.not_asked = CountOf(omissions.not_asked);
  shared.not_read = CountOf(omissions.not_read);
  *gone = omissions.gone;
  return shared;
}

}  // namespace

SharedKeys FindSharedKeys(const std::vector<std::string>& paths, const std::string& column_family) {
  constexpr int kAttempts = 5;
  bool gone = true;
  SharedKeys shared;
  for (int i = 0; gone && i < kAttempts; ++i) {
    shared = ReadOnce(paths, column_family, &gone);
  }
  return shared;
}

}  // namespace exactbloom::tool
