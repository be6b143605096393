#include "followed_filters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "plugin/tree/tree_census.h"

namespace exactbloom::tool {
namespace {

using tree::LiveTable;
using tree::TableCount;

// Tables of a run get nearly the same, so of more than these some are taken together.
constexpr std::size_t kMostSteps = 256;

// With the average of the bits per key.
void Add(const RebuiltTables& tables, RebuiltTables* sum) {
  const auto keys = static_cast<double>(tables.keys);
  const auto before = static_cast<double>(sum->keys);
  sum->bits_per_key =
      (sum->bits_per_key * before + tables.bits_per_key * keys) / std::max(1.0, before + keys);
  sum->tables += tables.tables;
  sum->keys += tables.keys;
  sum->bottommost = tables.bottommost;
  sum->asked += tables.asked;
}

RebuiltTables Alone(const TableOfLevel& table) {
  return {1, table.keys, 0.0, table.bottommost, table.asked};
}

// Tables of a level whose filters are alike: by their place, their size, and their bits per key.
using Kind = std::tuple<bool, int, int>;

Kind KindOf(const RebuiltTables& tables) {
  constexpr double kSizesPerDoubling = 4.0;
  constexpr double kPartsOfABit = 16.0;
  const auto keys = static_cast<double>(tables.keys) / static_cast<double>(tables.tables);
  return {tables.bottommost, static_cast<int>(kSizesPerDoubling * std::log2(keys + 1.0)),
          static_cast<int>(kPartsOfABit * tables.bits_per_key)};
}

std::vector<RebuiltTables> TablesOf(const std::map<Kind, RebuiltTables>& alike) {
  std::vector<RebuiltTables> all;
  all.reserve(alike.size());
  for (const auto& [kind, tables] : alike) all.push_back(tables);
  return all;
}

// Tables of a level that are taken to be rewritten together.
struct Step {
  RebuiltTables tables;
  std::uint64_t filter_bytes = 0;  // now
};

std::vector<Step> StepsOf(const TreeLevel& level) {
  const std::size_t most = level.level == 0 ? 1 : level.tables.size() / kMostSteps + 1;
  std::vector<Step> steps;
  for (const TableOfLevel& table : level.tables) {
    const bool goes_on = !steps.empty() && steps.back().tables.tables < most &&
                         steps.back().tables.bottommost == table.bottommost;
    if (!goes_on) steps.emplace_back();
    Add(Alone(table), &steps.back().tables);
    steps.back().filter_bytes += table.filter_bytes;
  }
  return steps;
}

class Rehearsal {
 public:
  Rehearsal(const tree::DivisionOptions& options, const Tree& tree)
      : division_(options), knows_sizes_(options.memory_budget != 0), family_(tree.column_family) {
    std::vector<LiveTable> live;
    for (const TreeLevel& level : tree.levels) {
      for (const Step& step : StepsOf(level)) {
        const auto bytes = knows_sizes_ ? std::optional(step.filter_bytes) : std::nullopt;
        live.push_back({level.level, ++last_number_, {step.tables.keys, bytes}});
        numbers_[level.level].push_back(last_number_);
      }
    }
    census_.Look(census_.Changes(), "rehearsal", {{family_, live}});
  }

  const std::vector<std::uint64_t>& NumbersOf(int level) { return numbers_[level]; }

  double BitsPerKey(int level, std::uint64_t keys) const {
    const auto view = census_.View(family_, last_job_ + 1, level);
    return view ? division_.Share(*view, static_cast<double>(keys)).bits_per_key : 0.0;
  }

  // As CompactFiles does it: no event tells of more than a table that is made, and one that goes.
  void Replace(std::uint64_t number, int level, const TableCount& count) {
    census_.AddUnheard(family_, ++last_job_, {level, ++last_number_, count});
    census_.Delete(number);
  }

 private:
  tree::TreeDivision division_;
  bool knows_sizes_;
  std::string family_;
  tree::TreeCensus census_;
  std::map<int, std::vector<std::uint64_t>> numbers_;
  std::uint64_t last_number_ = 0;
  tree::TreeCensus::JobId last_job_ = 0;
};

}  // namespace

std::vector<RebuiltTables> AlikeTables(const TreeLevel& level) {
  std::map<Kind, RebuiltTables> alike;
  for (const TableOfLevel& table : level.tables) Add(Alone(table), &alike[KindOf(Alone(table))]);
  return TablesOf(alike);
}

std::vector<std::vector<RebuiltTables>> RebuildFollowing(
    const tree::DivisionOptions& options, const Tree& tree,
    const std::function<std::uint64_t(const TreeLevel& level, const RebuiltTables& tables)>&
        bytes) {
  std::vector<std::vector<RebuiltTables>> rebuilt(tree.levels.size());
  Rehearsal rehearsal(options, tree);
  for (std::size_t i = tree.levels.size(); i-- > 0;) {
    const TreeLevel& level = tree.levels[i];
    const std::vector<Step> steps = StepsOf(level);
    const std::vector<std::uint64_t> numbers = rehearsal.NumbersOf(level.level);
    std::map<Kind, RebuiltTables> alike;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      RebuiltTables tables = steps[k].tables;
      // The policy wants to know the bits of partitions and of Ribbon filters before their keys.
      const bool is_ribbon = options.bottommost == BottommostFilter::kRibbon && tables.bottommost;
      const bool knows_keys = !is_ribbon && !tree.table_options.partition_filters;
      const std::uint64_t keys = tables.keys / std::max<std::uint64_t>(1, tables.tables);
      tables.bits_per_key = rehearsal.BitsPerKey(level.level, knows_keys ? keys : 0);
      const std::uint64_t filter_bytes = bytes(level, tables);
      if (filter_bytes == 0) tables.bits_per_key = 0.0;
      rehearsal.Replace(numbers[k], level.level, {tables.keys, filter_bytes});
      Add(tables, &alike[KindOf(tables)]);
    }
    rebuilt[i] = TablesOf(alike);
  }
  return rebuilt;
}

}  // namespace exactbloom::tool
