#include "followed_filters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "plugin/tree/tree_census.h"

namespace exactbloom::tool {
namespace {

using tree::LiveTable;
using tree::TableCount;

// Tables of a run get nearly the same, so of more than these some are taken together.
constexpr std::uint64_t kMostSteps = 256;

// With the average of the bits per key.
void Add(const RebuiltTables& tables, RebuiltTables* sum) {
  const auto keys = static_cast<double>(tables.keys);
  const auto before = static_cast<double>(sum->keys);
  sum->bits_per_key =
      (sum->bits_per_key * before + tables.bits_per_key * keys) / std::max(1.0, before + keys);
  sum->tables += tables.tables;
  sum->keys += tables.keys;
  sum->bottommost = tables.bottommost;
}

double PartAtBottom(const TreeLevel& level) {
  return static_cast<double>(PartOf(level, true, 0.0).tables) /
         std::max(1.0, static_cast<double>(level.tables));
}

// Tables of a level that are rewritten together, in the order of a rebuild.
struct Step {
  RebuiltTables tables;
  std::uint64_t filter_bytes = 0;  // now
};

std::vector<Step> StepsOf(const TreeLevel& level) {
  std::vector<Step> steps;
  if (!level.each.empty() && (level.level == 0 || level.each.size() <= kMostSteps)) {
    for (const TableOfLevel& table : level.each) {
      steps.push_back({{1, table.keys, 0.0, table.bottommost}, table.filter_bytes});
    }
    return steps;
  }
  const std::uint64_t most = level.level == 0 ? level.tables : kMostSteps;
  const std::uint64_t count = std::clamp<std::uint64_t>(level.tables, 1, most);
  const double bottommost_part = PartAtBottom(level);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto part = [&](std::uint64_t sum) { return sum * (i + 1) / count - sum * i / count; };
    // Those at the bottom are spread evenly over the level.
    const auto place = static_cast<double>(i);
    const bool is_bottommost =
        std::floor(bottommost_part * (place + 1.0)) > std::floor(bottommost_part * place);
    steps.push_back(
        {{part(level.tables), part(level.keys), 0.0, is_bottommost}, part(level.filter_bytes)});
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

RebuiltTables PartOf(const TreeLevel& level, bool bottommost, double bits_per_key) {
  const std::uint64_t tables = level.deepest ? level.tables : level.bottommost_tables;
  const std::uint64_t keys = level.deepest ? level.keys : level.bottommost_keys;
  if (bottommost) return {tables, keys, bits_per_key, true};
  return {level.tables - tables, level.keys - keys, bits_per_key, false};
}

std::vector<std::vector<RebuiltTables>> RebuildFollowing(
    const tree::DivisionOptions& options, const Tree& tree,
    const std::function<std::uint64_t(const TreeLevel& level, const RebuiltTables& tables)>&
        bytes) {
  constexpr double kParts = 16.0;  // of a bit per key, within which tables are alike
  std::vector<std::vector<RebuiltTables>> rebuilt(tree.levels.size());
  Rehearsal rehearsal(options, tree);
  for (std::size_t i = tree.levels.size(); i-- > 0;) {
    const TreeLevel& level = tree.levels[i];
    const std::vector<Step> steps = StepsOf(level);
    const std::vector<std::uint64_t> numbers = rehearsal.NumbersOf(level.level);
    std::map<std::pair<bool, int>, RebuiltTables> alike;
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
      if (level.level == 0) {
        rebuilt[i].push_back(tables);
      } else {
        Add(tables, &alike[{tables.bottommost, static_cast<int>(kParts * tables.bits_per_key)}]);
      }
    }
    for (const auto& [bits, tables] : alike) rebuilt[i].push_back(tables);
  }
  return rebuilt;
}

}  // namespace exactbloom::tool
