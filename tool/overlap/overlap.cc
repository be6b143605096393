// exactbloom overlap: the keys that newer runs have made obsolete.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "obsolete_keys.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/database/database_files.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

// A part of `whole`; 0 of nothing.
double PartOf(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

// The runs of a level, or of a column family. The sum of intervals has more than their confidence.
class ObsoleteSums {
 public:
  void Add(const RunKeys& run) {
    runs_ += 1;
    tables_ += run.tables;
    keys_ += run.keys;
    bytes_ += run.bytes;
    obsolete_ += run.obsolete.keys;
    low_ += run.obsolete.interval.low;
    high_ += run.obsolete.interval.high;
    obsolete_bytes_ +=
        PartOf(run.obsolete.keys, static_cast<double>(run.keys)) * static_cast<double>(run.bytes);
  }

  void Add(const ObsoleteSums& other) {
    runs_ += other.runs_;
    tables_ += other.tables_;
    keys_ += other.keys_;
    bytes_ += other.bytes_;
    obsolete_ += other.obsolete_;
    low_ += other.low_;
    high_ += other.high_;
    obsolete_bytes_ += other.obsolete_bytes_;
  }

  std::uint64_t Runs() const { return runs_; }
  std::uint64_t Tables() const { return tables_; }
  std::uint64_t Keys() const { return keys_; }
  std::uint64_t Bytes() const { return bytes_; }
  double FreedBytes() const { return obsolete_bytes_; }
  double FreedShare() const { return PartOf(obsolete_bytes_, static_cast<double>(bytes_)); }

  KeysEstimate Obsolete() const { return {obsolete_, {low_, high_}}; }

 private:
  std::uint64_t runs_ = 0;
  std::uint64_t tables_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t bytes_ = 0;
  double obsolete_ = 0.0;
  double low_ = 0.0;
  double high_ = 0.0;
  double obsolete_bytes_ = 0.0;
};

// What the output has of a column family.
struct FamilyOverlap {
  std::map<int, ObsoleteSums> levels;
  ObsoleteSums all;
};

std::map<std::string, FamilyOverlap> FamiliesOf(const ObsoleteKeys& keys) {
  std::map<std::string, FamilyOverlap> families;
  for (const RunKeys& run : keys.runs) {
    FamilyOverlap& family = families[run.column_family];
    family.levels[run.level].Add(run);
    family.all.Add(run);
  }
  return families;
}

std::string Whole(double number) {
  return support::WithCommas(static_cast<std::uint64_t>(std::llround(number)));
}

// The ends of an estimate as shares of `keys`.
std::string ShareRange(const Interval& interval, std::uint64_t keys) {
  const auto whole = static_cast<double>(keys);
  return fmt::format("{:.2f} - {:.2f}%", 100.0 * PartOf(interval.low, whole),
                     100.0 * PartOf(interval.high, whole));
}

std::string InUnits(double bytes) { return FormatBytes(static_cast<std::uint64_t>(bytes)); }

support::Cells CellsOf(const ObsoleteSums& keys) {
  const KeysEstimate obsolete = keys.Obsolete();
  return {keys.Runs(),
          keys.Tables(),
          keys.Keys(),
          Whole(obsolete.keys),
          ShareRange(obsolete.interval, keys.Keys()),
          InUnits(keys.FreedBytes())};
}

// A line for each level, or each column family. Without an interval if all keys were counted.
support::TextTable TableOf(const std::string& title, const ObsoleteSums& all) {
  const Interval interval = all.Obsolete().interval;
  const int rank = interval.low == interval.high ? support::TextTable::kNever : 0;
  return support::TextTable(
      {title, "runs", "tables", "keys", "obsolete", "99.9% interval", "freed"},
      {0, 2, 3, 1, 0, rank, 0});
}

void PrintLevels(const FamilyOverlap& family) {
  support::TextTable text = TableOf("level", family.all);
  for (const auto& [number, level] : family.levels)
    text.AddRow({LevelName(number)}, CellsOf(level));
  text.AddRow({"all"}, CellsOf(family.all));
  fmt::print("{}", text.Format(support::Columns()));
}

void PrintAnswer(const ObsoleteSums& all) {
  const KeysEstimate obsolete = all.Obsolete();
  const auto keys = static_cast<double>(all.Keys());
  const double left = static_cast<double>(all.Bytes()) - all.FreedBytes();
  fmt::print("{}\n",
             Wrapped(fmt::format(
                 "A compaction of everything would drop about {} of {} keys, and free {} of "
                 "{}, {:.1f}%. About {} keys are distinct; the tables take {:.2f} times the bytes "
                 "that would be left.",
                 Whole(obsolete.keys), support::WithCommas(all.Keys()), InUnits(all.FreedBytes()),
                 InUnits(static_cast<double>(all.Bytes())), 100.0 * all.FreedShare(),
                 Whole(keys - obsolete.keys),
                 left > 0.0 ? static_cast<double>(all.Bytes()) / left : 1.0)));
}

void PrintFamilies(const std::map<std::string, FamilyOverlap>& families) {
  ObsoleteSums all;
  for (const auto& [name, family] : families) all.Add(family.all);
  support::TextTable text = TableOf("column family", all);
  for (const auto& [name, family] : families) text.AddRow({Escaped(name)}, CellsOf(family.all));
  text.AddRow({"all"}, CellsOf(all));
  PrintAnswer(all);
  fmt::print("{}\n{}", text.Format(support::Columns()),
             Wrapped("--column-family NAME shows the levels of one."));
}

void PrintText(const ObsoleteKeys& keys, const std::string& database) {
  const std::map<std::string, FamilyOverlap> families = FamiliesOf(keys);
  if (families.empty()) fmt::print("{}", Wrapped(WhyNoTables(database) + "."));
  if (families.size() > 1) PrintFamilies(families);
  if (families.size() == 1) {
    PrintAnswer(families.begin()->second.all);
    PrintLevels(families.begin()->second);
  }
  if (!keys.not_read.empty()) fmt::print("\nThere may be more: not all keys can be read.\n");
  for (const auto& [reason, tables] : keys.not_read) {
    fmt::print("{}", Wrapped(fmt::format("{}: {}", Counted(tables, "table"), reason), 2));
  }
}

json JsonOf(const KeysEstimate& estimate) {
  return {
      {"keys", estimate.keys}, {"low", estimate.interval.low}, {"high", estimate.interval.high}};
}

json JsonOf(const ObsoleteSums& level) {
  return {{"runs", level.Runs()},
          {"tables", level.Tables()},
          {"keys", level.Keys()},
          {"bytes", level.Bytes()},
          {"obsolete", JsonOf(level.Obsolete())},
          {"freed_bytes", level.FreedBytes()}};
}

json OverlapJson(const ObsoleteKeys& keys) {
  json families = json::array();
  for (const auto& [name, family] : FamiliesOf(keys)) {
    json& document = families.emplace_back(JsonOf(family.all));
    document["column_family"] = name;
    document["levels"] = json::array();
    for (const auto& [number, level] : family.levels) {
      document["levels"].emplace_back(JsonOf(level))["level"] = number;
    }
  }
  json runs = json::array();
  for (const RunKeys& run : keys.runs) {
    runs.push_back({{"column_family", run.column_family},
                    {"level", run.level},
                    {"file", run.file},
                    {"tables", run.tables},
                    {"keys", run.keys},
                    {"bytes", run.bytes},
                    {"obsolete", JsonOf(run.obsolete)}});
  }
  json unreadable = json::array();
  for (const UnreadableTable& table : keys.unreadable) {
    unreadable.push_back({{"table", table.path},
                          {"column_family", table.column_family},
                          {"level", table.level},
                          {"reason", table.reason}});
  }
  return {{"column_families", families},
          {"runs", runs},
          {"not_read", keys.not_read},
          {"unreadable", unreadable}};
}

}  // namespace

void RunOverlap(const OverlapArguments& arguments) {
  const ObsoleteKeys keys = FindObsoleteKeys(arguments.paths, arguments.column_family);
  if (arguments.json) {
    PrintJson(OverlapJson(keys));
  } else {
    PrintText(keys, arguments.paths.front());
  }
  if (keys.unreadable.empty()) return;
  const UnreadableTable& first = keys.unreadable.front();
  const bool names_it = first.reason.find(first.path) != std::string::npos;
  throw support::Findings(fmt::format("{} cannot be read, first: {}",
                                      Counted(keys.unreadable.size(), "table"),
                                      names_it ? first.reason : first.path + ": " + first.reason));
}

}  // namespace exactbloom::tool
