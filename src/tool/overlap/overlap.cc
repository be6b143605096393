// exactbloom overlap: the keys that sorted runs share, and those that newer runs have made
// obsolete.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shared_keys.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

// Shares of a sample, to the digits that are printed.
constexpr double kAllAsked = 0.9995;
constexpr double kNoneAsked = 0.0005;

// Sums of estimates that do not depend on each other.
class EstimateSum {
 public:
  void Add(const KeysEstimate& estimate) {
    sum_.keys += estimate.keys;
    below_ += Square(estimate.keys - estimate.interval.low);
    above_ += Square(estimate.interval.high - estimate.keys);
  }

  KeysEstimate Sum() const {
    return {sum_.keys,
            {std::max(0.0, sum_.keys - std::sqrt(below_)), sum_.keys + std::sqrt(above_)}};
  }

 private:
  static double Square(double value) { return value * value; }

  KeysEstimate sum_;
  double below_ = 0.0;
  double above_ = 0.0;
};

// The runs of a level, or those of all levels.
struct LevelKeys {
  std::uint64_t runs = 0;
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sampled = 0;
  EstimateSum obsolete;
  double obsolete_bytes = 0.0;

  void Add(const RunKeys& run) {
    runs += 1;
    tables += run.tables;
    keys += run.keys;
    bytes += run.bytes;
    sampled += run.sampled;
    obsolete.Add(run.obsolete);
    obsolete_bytes += run.obsolete_bytes;
  }
};

std::string NameOf(const RunKeys& run) {
  if (run.file.empty()) return LevelName(run.level);
  const std::string file = FileName(run.file);
  return run.level < 0 ? file : fmt::format("{} {}", run.level, file);
}

support::Cells CellsOf(const KeysEstimate& estimate) {
  return {fmt::format("{:.0f}", estimate.keys), fmt::format("{:.0f}", estimate.interval.low),
          fmt::format("{:.0f}", estimate.interval.high)};
}

std::string FormatLevels(const SharedKeys& shared, bool has_families) {
  std::map<std::pair<std::string, int>, LevelKeys> levels;
  LevelKeys all;
  for (const RunKeys& run : shared.runs) {
    levels[{run.column_family, run.level}].Add(run);
    all.Add(run);
  }
  support::TextTable text({"level", "sorted runs", "tables", "keys", "sampled", "obsolete keys",
                           "at least", "at most", "obsolete bytes"});
  const auto add = [&text](const std::string& name, const LevelKeys& level) {
    support::Cells cells = {name, level.runs, level.tables, level.keys, level.sampled};
    for (const support::Cell& cell : CellsOf(level.obsolete.Sum())) cells.push_back(cell);
    cells.emplace_back(fmt::format("{:.0f}", level.obsolete_bytes));
    text.AddRow(cells);
  };
  for (const auto& [place, level] : levels) {
    const std::string name = LevelName(place.second);
    add(has_families ? fmt::format("{} {}", place.first, name) : name, level);
  }
  add("all", all);
  return text.Format() +
         fmt::format(
             "\nA compaction of everything would drop about {:.0f} of {} keys, {:.1f}% of {} "
             "bytes.\n",
             all.obsolete.Sum().keys, all.keys,
             100.0 * all.obsolete_bytes / std::max(1.0, static_cast<double>(all.bytes)), all.bytes);
}

std::string FormatPairs(const SharedKeys& shared, bool has_families) {
  support::TextTable text(
      {"newer run", "older run", "asked", "shared keys", "at least", "at most"});
  for (const RunPair& pair : shared.pairs) {
    const RunKeys& newer = shared.runs[pair.newer];
    const std::string name = NameOf(newer);
    support::Cells cells = {has_families ? fmt::format("{} {}", newer.column_family, name) : name,
                            NameOf(shared.runs[pair.older]),
                            fmt::format("{:.1f}%", 100.0 * pair.asked)};
    const support::Cells none(3, "-");
    for (const support::Cell& cell : pair.asked < kNoneAsked ? none : CellsOf(pair.shared)) {
      cells.push_back(cell);
    }
    text.AddRow(cells);
  }
  return text.Format();
}

void PrintText(const OverlapArguments& arguments, const SharedKeys& shared) {
  const bool has_families = std::any_of(
      shared.runs.begin(), shared.runs.end(),
      [&](const RunKeys& run) { return run.column_family != shared.runs.front().column_family; });
  fmt::print("{}", FormatLevels(shared, has_families));
  if (arguments.pairs) fmt::print("\n{}", FormatPairs(shared, has_families));
  const bool all_asked = std::all_of(shared.pairs.begin(), shared.pairs.end(),
                                     [](const RunPair& pair) { return pair.asked >= kAllAsked; });
  if (all_asked) return;
  fmt::print("\nThere may be more: not all filters can be asked for keys.\n");
  for (const auto& [reason, tables] : shared.not_asked) {
    fmt::print("  {}: {}\n", Counted(tables, "table"), reason);
  }
}

json JsonOf(const KeysEstimate& estimate) {
  return {
      {"keys", estimate.keys}, {"low", estimate.interval.low}, {"high", estimate.interval.high}};
}

json ToJson(const SharedKeys& shared) {
  json runs = json::array();
  for (const RunKeys& run : shared.runs) {
    runs.push_back({{"column_family", run.column_family},
                    {"level", run.level},
                    {"file", run.file},
                    {"tables", run.tables},
                    {"keys", run.keys},
                    {"bytes", run.bytes},
                    {"sampled", run.sampled},
                    {"obsolete", JsonOf(run.obsolete)},
                    {"obsolete_bytes", run.obsolete_bytes}});
  }
  json pairs = json::array();
  for (const RunPair& pair : shared.pairs) {
    pairs.push_back({{"newer", pair.newer},
                     {"older", pair.older},
                     {"asked", pair.asked},
                     {"shared", JsonOf(pair.shared)}});
  }
  return {{"runs", runs},
          {"pairs", pairs},
          {"not_asked", shared.not_asked},
          {"unreadable", shared.unreadable}};
}

}  // namespace

void RunOverlap(const OverlapArguments& arguments) {
  const SharedKeys shared = FindSharedKeys(arguments.paths, arguments.tables_per_run);
  if (arguments.json) {
    PrintJson(ToJson(shared));
  } else {
    PrintText(arguments, shared);
  }
  if (shared.unreadable.empty()) return;
  throw support::Findings(fmt::format("{} of the tables cannot be read, first: {}",
                                      shared.unreadable.size(), shared.unreadable.front()));
}

}  // namespace exactbloom::tool
