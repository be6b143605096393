#include "obsolete_keys.h"

#include <fmt/format.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "src/model/sorted_runs.h"
#include "sst/regular_files.h"
#include "sst/table_filters.h"
#include "support/errors.h"
#include "support/progress.h"
#include "tool/database/database_files.h"
#include "tool/database/table_keys.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Status;

struct ReadTable {
  TableLocation location;
  TableFilter filter;
};

using Run = std::vector<const ReadTable*>;  // in the order of its keys

RunKeys DescribeRun(const Run& tables) {
  RunKeys run;
  const TableLocation& first = tables.front()->location;
  run.column_family = first.column_family;
  run.level = first.level;
  if (run.level == 0) run.file = first.path;
  run.tables = tables.size();
  for (const ReadTable* table : tables) {
    run.keys += table->filter.PointEntries();
    run.bytes += table->filter.file_bytes;
  }
  return run;
}

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

// Calls `visit` for the hash of each key of a table.
Status VisitKeys(const std::string& path, const std::function<void(std::uint64_t)>& visit) {
  try {
    std::unique_ptr<TableKeys> keys;
    Status status = TableKeys::Open(path, &keys);
    if (!status.ok()) return status;
    for (; keys->Valid(); keys->Next()) {
      visit(std::hash<std::string_view>{}(keys->Key().ToStringView()));
    }
    return keys->status();
  } catch (const std::exception& error) {  // a block of more than a gigabyte
    return Status::MemoryLimit(error.what());
  }
}

UnreadableTable Unreadable(const TableLocation& table, const Status& status) {
  return {table.path, table.column_family, table.level, Describe(status)};
}

// Reads the runs of a column family. Returns whether a table was removed meanwhile.
bool AddFamily(const std::vector<Run>& runs, support::Progress& progress, ObsoleteKeys* answer) {
  const std::size_t first = answer->runs.size();
  std::uint64_t all_keys = 0;
  for (const Run& run : runs) {
    all_keys += answer->runs.emplace_back(DescribeRun(run)).keys;
  }
  if (runs.size() == 1) return false;
  const std::uint64_t step = 1 + all_keys / kMostKeys;
  bool gone = false;
  std::uint64_t unread = 0;
  std::unordered_set<std::uint64_t> newer;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::uint64_t obsolete = 0;
    for (const ReadTable* table : runs[i]) {
      Status status = table->filter.status;
      if (status.ok()) {
        status = VisitKeys(table->location.path, [&](std::uint64_t key) {
          if (key % step == 0 && !newer.insert(key).second) ++obsolete;
        });
        const bool is_damaged =
            !status.ok() && !status.IsNotSupported() && !status.IsPathNotFound();
        if (is_damaged) answer->unreadable.push_back(Unreadable(table->location, status));
      }
      progress.Add(1);
      if (status.ok()) continue;
      gone = gone || status.IsPathNotFound();
      unread += table->filter.PointEntries();
      answer->not_read[status.IsNotSupported() ? status.getState() : "it cannot be read"] += 1;
    }
    RunKeys& run = answer->runs[first + i];
    if (i != 0) run.obsolete = EstimateOf(obsolete, step, unread, run.keys);
  }
  return gone;
}

// Reads the database once. `gone`: whether it removed a table meanwhile.
ObsoleteKeys ReadOnce(const std::vector<std::string>& paths, const std::string& column_family,
                      bool* gone) {
  const auto read = ReadTables<TableFilter>(paths, "reading tables", [](const auto& table) {
    TableFilter filter;
    ReadTableFilter(*files::RegularFiles(), table.path, &filter);  // sets its status
    return filter;
  });
  if (read.database.empty()) {
    throw support::InputError("overlap takes a database: table files alone have no age");
  }
  ObsoleteKeys answer;
  std::vector<ReadTable> tables;
  for (const auto& [location, filter] : read.tables) {
    if (!column_family.empty() && location.column_family != column_family) continue;
    tables.push_back({location, filter});
    if (!filter.status.ok()) answer.unreadable.push_back(Unreadable(location, filter.status));
  }
  if (tables.empty() && !column_family.empty()) {
    throw support::InputError(
        fmt::format("{} has no tables of column family {}", read.database, column_family));
  }
  support::Progress progress;
  progress.Begin("reading keys", tables.size());
  *gone = false;
  for (const auto& [name, runs] : RunsOf(tables)) {
    if (AddFamily(runs, progress, &answer)) *gone = true;
  }
  return answer;
}

}  // namespace

KeysEstimate EstimateOf(std::uint64_t count, std::uint64_t step, std::uint64_t unread,
                        std::uint64_t keys) {
  const double one_of = static_cast<double>(step);
  const double mean = one_of * static_cast<double>(count);
  const double most = static_cast<double>(keys);
  // Wilson's interval of a binomial number of mean N / s: (N / s - count)^2 = z^2 N / s (1 - 1/s).
  const double spread = kZ999 * kZ999 * (1.0 - 1.0 / one_of);
  const double middle = static_cast<double>(count) + spread / 2.0;
  const double half = std::sqrt(spread * static_cast<double>(count) + spread * spread / 4.0);
  return {std::min(mean, most),
          {std::min(most, one_of * std::max(0.0, middle - half)),
           std::min(most, one_of * (middle + half) + static_cast<double>(unread))}};
}

ObsoleteKeys FindObsoleteKeys(const std::vector<std::string>& paths,
                              const std::string& column_family) {
  constexpr int kAttempts = 5;
  bool gone = true;
  ObsoleteKeys answer;
  for (int i = 0; gone && i < kAttempts; ++i) answer = ReadOnce(paths, column_family, &gone);
  return answer;
}

}  // namespace exactbloom::tool
