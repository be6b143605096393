// exactbloom overlap: the keys that sorted runs share, and those that newer runs have made
// obsolete.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "shared_keys.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/database/database_files.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

double Squared(double value) { return value * value; }

// A part of `whole`; 0 of nothing.
double PartOf(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

// The runs of a level, or of a column family. Estimates of different runs are independent, so the
// distances of their ends add up by their squares.
class ObsoleteKeys {
 public:
  void Add(const RunKeys& run) {
    runs_ += 1;
    tables_ += run.tables;
    keys_ += run.keys;
    bytes_ += run.bytes;
    obsolete_ += run.obsolete.keys;
    below_ += Squared(run.obsolete.keys - run.obsolete.interval.low);
    above_ += Squared(run.obsolete.interval.high - run.obsolete.keys);
    obsolete_bytes_ +=
        PartOf(run.obsolete.keys, static_cast<double>(run.keys)) * static_cast<double>(run.bytes);
  }

  void Add(const ObsoleteKeys& other) {
    runs_ += other.runs_;
    tables_ += other.tables_;
    keys_ += other.keys_;
    bytes_ += other.bytes_;
    obsolete_ += other.obsolete_;
    below_ += other.below_;
    above_ += other.above_;
    obsolete_bytes_ += other.obsolete_bytes_;
  }

  std::uint64_t Runs() const { return runs_; }
  std::uint64_t Tables() const { return tables_; }
  std::uint64_t Keys() const { return keys_; }
  std::uint64_t Bytes() const { return bytes_; }
  double FreedBytes() const { return obsolete_bytes_; }
  double FreedShare() const { return PartOf(obsolete_bytes_, static_cast<double>(bytes_)); }

  KeysEstimate Obsolete() const {
    return {obsolete_,
            {std::max(0.0, obsolete_ - std::sqrt(below_)), obsolete_ + std::sqrt(above_)}};
  }

 private:
  std::uint64_t runs_ = 0;
  std::uint64_t tables_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t bytes_ = 0;
  double obsolete_ = 0.0;
  double below_ = 0.0;  // squares of the distances to the lower ends
  double above_ = 0.0;
  double obsolete_bytes_ = 0.0;
};

// Of a pair: the keys that both runs have, of those that either has.
double JaccardIndex(const SharedKeys& shared, const RunPair& pair, double keys) {
  const auto both =
      static_cast<double>(shared.runs[pair.newer].keys + shared.runs[pair.older].keys);
  return PartOf(keys, both - keys);
}

// What the output has of a column family.
struct FamilyOverlap {
  std::map<int, ObsoleteKeys> levels;
  ObsoleteKeys all;
  std::vector<const RunPair*> pairs;
};

std::map<std::string, FamilyOverlap> FamiliesOf(const SharedKeys& shared) {
  std::map<std::string, FamilyOverlap> families;
  for (const RunKeys& run : shared.runs) {
    FamilyOverlap& family = families[run.column_family];
    family.levels[run.level].Add(run);
    family.all.Add(run);
  }
  for (const RunPair& pair : shared.pairs) {
    families[shared.runs[pair.newer].column_family].pairs.push_back(&pair);
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

// A run by its level, in level 0 with its table.
std::string RunName(const RunKeys& run) {
  return run.file.empty() ? LevelName(run.level)
                          : fmt::format("{} {}", run.level, FileName(run.file));
}

support::Cells CellsOf(const ObsoleteKeys& keys) {
  const KeysEstimate obsolete = keys.Obsolete();
  return {keys.Runs(),
          keys.Tables(),
          keys.Keys(),
          Whole(obsolete.keys),
          ShareRange(obsolete.interval, keys.Keys()),
          InUnits(keys.FreedBytes())};
}

// A line for each level, or each column family.
support::TextTable TableOf(const std::string& title) {
  return support::TextTable(
      {title, "runs", "tables", "keys", "obsolete", "99.9% interval", "freed"},
      {0, 2, 3, 1, 0, 0, 0});
}

void PrintLevels(const FamilyOverlap& family) {
  support::TextTable text = TableOf("level");
  for (const auto& [number, level] : family.levels)
    text.AddRow({LevelName(number)}, CellsOf(level));
  text.AddRow({"all"}, CellsOf(family.all));
  fmt::print("{}", text.Format(support::Columns()));
}

void PrintPairs(const SharedKeys& shared, const FamilyOverlap& family) {
  constexpr double kNoneAsked = 0.0005;  // less is printed as 0.0%
  support::TextTable text(
      {"newer run", "older run", "asked", "shared", "99.9% interval", "Jaccard"});
  for (const RunPair* pair : family.pairs) {
    const bool is_known = pair->asked >= kNoneAsked;
    const KeysEstimate& keys = pair->shared;
    text.AddRow({RunName(shared.runs[pair->newer]), RunName(shared.runs[pair->older]),
                 fmt::format("{:.1f}%", 100.0 * pair->asked), is_known ? Whole(keys.keys) : "-",
                 is_known ? ShareRange(keys.interval, shared.runs[pair->older].keys) : "-",
                 is_known ? fmt::format("{:.4f}", JaccardIndex(shared, *pair, keys.keys)) : "-"});
  }
  fmt::print("\n{}", text.Format(support::Columns()));
}

void PrintReasons(const std::string& title, const std::map<std::string, std::uint64_t>& tables) {
  if (tables.empty()) return;
  fmt::print("\n{}\n", title);
  for (const auto& [reason, count] : tables) {
    fmt::print("  {}: {}\n", Counted(count, "table"), reason);
  }
}

void PrintAnswer(const ObsoleteKeys& all) {
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

void PrintFamilies(const SharedKeys& shared, const std::map<std::string, FamilyOverlap>& families,
                   bool pairs) {
  ObsoleteKeys all;
  support::TextTable text = TableOf("column family");
  for (const auto& [name, family] : families) {
    all.Add(family.all);
    text.AddRow({Escaped(name)}, CellsOf(family.all));
  }
  text.AddRow({"all"}, CellsOf(all));
  PrintAnswer(all);
  fmt::print("{}\n{}", text.Format(support::Columns()),
             Wrapped("--column-family NAME shows the levels of one."));
  for (const auto& [name, family] : families) {
    if (!pairs || family.pairs.empty()) continue;
    fmt::print("\n{}:\n", Escaped(name));
    PrintPairs(shared, family);
  }
}

void PrintText(const SharedKeys& shared, const std::string& database, bool pairs) {
  const std::map<std::string, FamilyOverlap> families = FamiliesOf(shared);
  if (families.empty()) fmt::print("{}", Wrapped(WhyNoTables(database) + "."));
  if (families.size() > 1) PrintFamilies(shared, families, pairs);
  if (families.size() == 1) {
    const FamilyOverlap& family = families.begin()->second;
    PrintAnswer(family.all);
    PrintLevels(family);
    if (pairs && !family.pairs.empty()) PrintPairs(shared, family);
  }
  PrintReasons("There may be more: not all filters can be asked for keys.", shared.not_asked);
  PrintReasons("There may be more: not all keys can be read.", shared.not_read);
}

json JsonOf(const KeysEstimate& estimate) {
  return {
      {"keys", estimate.keys}, {"low", estimate.interval.low}, {"high", estimate.interval.high}};
}

json JsonOf(const ObsoleteKeys& level) {
  return {{"runs", level.Runs()},
          {"tables", level.Tables()},
          {"keys", level.Keys()},
          {"bytes", level.Bytes()},
          {"obsolete", JsonOf(level.Obsolete())},
          {"freed_bytes", level.FreedBytes()}};
}

json OverlapJson(const SharedKeys& shared) {
  json families = json::array();
  for (const auto& [name, family] : FamiliesOf(shared)) {
    json& document = families.emplace_back(JsonOf(family.all));
    document["column_family"] = name;
    document["levels"] = json::array();
    for (const auto& [number, level] : family.levels) {
      document["levels"].emplace_back(JsonOf(level))["level"] = number;
    }
  }
  json runs = json::array();
  for (const RunKeys& run : shared.runs) {
    runs.push_back({{"column_family", run.column_family},
                    {"level", run.level},
                    {"file", run.file},
                    {"tables", run.tables},
                    {"keys", run.keys},
                    {"bytes", run.bytes},
                    {"obsolete", JsonOf(run.obsolete)}});
  }
  json pairs = json::array();
  for (const RunPair& pair : shared.pairs) {
    const auto jaccard = [&](double keys) { return JaccardIndex(shared, pair, keys); };
    pairs.push_back({{"newer", pair.newer},
                     {"older", pair.older},
                     {"asked", pair.asked},
                     {"shared", JsonOf(pair.shared)},
                     {"jaccard",
                      {{"index", jaccard(pair.shared.keys)},
                       {"low", jaccard(pair.shared.interval.low)},
                       {"high", jaccard(pair.shared.interval.high)}}}});
  }
  return {{"column_families", families},
          {"runs", runs},
          {"pairs", pairs},
          {"not_asked", shared.not_asked},
          {"not_read", shared.not_read},
          {"unreadable", shared.unreadable}};
}

}  // namespace

void RunOverlap(const OverlapArguments& arguments) {
  const SharedKeys shared = FindSharedKeys(arguments.paths, arguments.column_family);
  if (arguments.json) {
    PrintJson(OverlapJson(shared));
  } else {
    PrintText(shared, arguments.paths.front(), arguments.pairs);
  }
  if (shared.unreadable.empty()) return;
  throw support::Findings(fmt::format("{} cannot be read, first: {}",
                                      Counted(shared.unreadable.size(), "table"),
                                      shared.unreadable.front()));
}

}  // namespace exactbloom::tool
