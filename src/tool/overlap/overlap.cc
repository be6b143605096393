// exactbloom overlap: how many keys do tables of different levels share, as their filters tell?
#include <fmt/format.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

#include "filter_overlap.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/database/database_files.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

struct PairOverlap {
  std::string first;
  std::string second;
  SharedKeysEstimate shared;
};

// The pairs of tables of two levels, or within level 0: elsewhere a level's tables share nothing.
struct LevelOverlap {
  std::uint64_t pairs = 0;
  std::uint64_t compared = 0;
  double shared = 0.0;
  double variance = 0.0;

  Interval SharedInterval() const {
    const double half = kZ999 * std::sqrt(variance);
    return {std::max(0.0, shared - half), std::max(0.0, shared + half)};
  }
};

struct Overlaps {
  using Levels = std::tuple<std::string, int, int>;  // column family and two levels
  std::map<Levels, LevelOverlap> levels;
  std::vector<PairOverlap> pairs;
  std::map<std::string, std::uint64_t> not_compared;  // pairs by reason
  std::vector<std::string> unreadable;
};

bool MayShare(const TableFilter& first, const TableFilter& second) {
  return first.column_family == second.column_family &&
         (first.level != second.level || first.level <= 0);
}

class Comparison {
 public:
  explicit Comparison(std::vector<TableFilter> tables) : tables_(std::move(tables)) {
    for (const TableFilter& table : tables_) {
      geometries_.push_back(GeometryOf(table, &reasons_.emplace_back()));
      if (!table.status.ok()) overlaps_.unreadable.push_back(Describe(table.status));
    }
  }

  Overlaps Run() {
    support::Progress progress;
    progress.Begin("comparing filters", tables_.size());
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      CompareWithLater(i);
      progress.Add(1);
    }
    return std::move(overlaps_);
  }

 private:
  void CompareWithLater(std::size_t i) {
    StoredFilter first;
    for (std::size_t j = i + 1; j < tables_.size(); ++j) {
      if (!MayShare(tables_[i], tables_[j])) continue;
      support::CheckForInterrupts();
      LevelOverlap& level =
          overlaps_.levels[{tables_[i].column_family, tables_[i].level, tables_[j].level}];
      ++level.pairs;
      const std::string reason = ReasonAgainst(i, j);
      if (reason.empty()) {
        Compare(i, j, &first, &level);
      } else {
        ++overlaps_.not_compared[reason];
      }
    }
  }

  std::string ReasonAgainst(std::size_t i, std::size_t j) const {
    if (!geometries_[i]) return reasons_[i];
    if (!geometries_[j]) return reasons_[j];
    return WhyNotComparable(*geometries_[i], *geometries_[j]);
  }

  // `first` keeps the filter of table i from one call to the next.
  void Compare(std::size_t i, std::size_t j, StoredFilter* first, LevelOverlap* level) {
    StoredFilter second;
    rocksdb::Status status;
    if (first->array.empty()) {
      status = ReadStoredFilter(tables_[i].path, *geometries_[i], first);
    }
    if (status.ok()) status = ReadStoredFilter(tables_[j].path, *geometries_[j], &second);
    if (!status.ok()) {
      ++overlaps_.not_compared["a table went away, or was damaged, meanwhile"];
      return;
    }
    const auto shared = EstimateShared(*first, second, kZ999);
    if (!shared) {
      ++overlaps_.not_compared["all bits are set"];
      return;
    }
    ++level->compared;
    level->shared += shared->uncut;
    level->variance += shared->deviation * shared->deviation;
    overlaps_.pairs.push_back({tables_[i].path, tables_[j].path, *shared});
  }

  std::vector<TableFilter> tables_;
  std::vector<std::optional<FilterGeometry>> geometries_;
  std::vector<std::string> reasons_;  // why there is no geometry
  Overlaps overlaps_;
};

Overlaps FindOverlaps(const std::vector<std::string>& paths) {
  const auto read =
      ReadTables<TableFilter>(paths, "reading filters", [](const TableLocation& table) {
        TableFilter filter;
        ReadTableFilter(*rocksdb::FileSystem::Default(), table.path, &filter);  // in its status
        return filter;
      });
  std::vector<TableFilter> tables;
  for (const auto& [location, filter] : read.tables) {
    tables.push_back(filter);
    tables.back().level = location.level;
    if (!read.database.empty()) tables.back().column_family = location.column_family;
  }
  return Comparison(std::move(tables)).Run();
}

std::string LevelName(int level) { return level < 0 ? "-" : fmt::format("{}", level); }

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void PrintText(const OverlapArguments& arguments, const Overlaps& overlaps) {
  support::TextTable levels(
      {"levels", "pairs of tables", "compared", "shared keys", "at least", "at most"});
  for (const auto& [place, level] : overlaps.levels) {
    const auto& [family, first, second] = place;
    const Interval interval = level.SharedInterval();
    const bool known = level.compared != 0;
    const std::string name = fmt::format("{} and {}", LevelName(first), LevelName(second));
    levels.AddRow({family == "default" ? name : fmt::format("{} {}", family, name),
                   fmt::format("{}", level.pairs), fmt::format("{}", level.compared),
                   known ? fmt::format("{:.0f}", std::max(0.0, level.shared)) : "-",
                   known ? fmt::format("{:.0f}", interval.low) : "-",
                   known ? fmt::format("{:.0f}", interval.high) : "-"});
  }
  fmt::print("{}", levels.Format());
  if (arguments.tables) {
    support::TextTable pairs({"tables", "shared keys", "at least", "at most"});
    for (const PairOverlap& pair : overlaps.pairs) {
      pairs.AddRow({fmt::format("{} and {}", FileName(pair.first), FileName(pair.second)),
                    fmt::format("{:.0f}", pair.shared.keys),
                    fmt::format("{:.0f}", pair.shared.interval.low),
                    fmt::format("{:.0f}", pair.shared.interval.high)});
    }
    fmt::print("\n{}", pairs.Format());
  }
  if (!overlaps.not_compared.empty()) fmt::print("\nPairs that cannot be compared:\n");
  for (const auto& [reason, pairs] : overlaps.not_compared) {
    fmt::print("  {}: {}\n", pairs, reason);
  }
}

json ToJson(const Overlaps& overlaps) {
  json levels = json::array();
  for (const auto& [place, level] : overlaps.levels) {
    const auto& [family, first, second] = place;
    json document{{"column_family", family}, {"pairs", level.pairs}, {"compared", level.compared}};
    document["levels"] = {first, second};
    if (level.compared != 0) {
      const Interval interval = level.SharedInterval();
      document.update({{"shared_keys", std::max(0.0, level.shared)},
                       {"low", interval.low},
                       {"high", interval.high}});
    }
    levels.push_back(document);
  }
  json pairs = json::array();
  for (const PairOverlap& pair : overlaps.pairs) {
    pairs.push_back({{"first", pair.first},
                     {"second", pair.second},
                     {"shared_keys", pair.shared.keys},
                     {"low", pair.shared.interval.low},
                     {"high", pair.shared.interval.high}});
  }
  return {{"levels", levels},
          {"pairs", pairs},
          {"not_compared", overlaps.not_compared},
          {"unreadable", overlaps.unreadable}};
}

}  // namespace

void RunOverlap(const OverlapArguments& arguments) {
  const Overlaps overlaps = FindOverlaps(arguments.paths);
  if (arguments.json) {
    PrintJson(ToJson(overlaps));
  } else {
    PrintText(arguments, overlaps);
  }
  if (overlaps.unreadable.empty()) return;
  throw support::Findings(fmt::format("{} of the tables cannot be read, first: {}",
                                      overlaps.unreadable.size(), overlaps.unreadable.front()));
}

}  // namespace exactbloom::tool
