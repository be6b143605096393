#include "followed_tree.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "plugin/allocation/allocation.h"
#include "plugin/allocation/tree_division.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/tree/lsm_shape.h"
#include "tool/support/own_policy.h"

namespace exactbloom::tool {
namespace {

tree::TreeDivision DivisionOf(FilterKind kind, const BloomFilterPolicyOptions& options) {
  return tree::TreeDivision(DivisionOptionsOf(Layout(kind, options.lines), options));
}

// Tables that are alike: bottommost, Ribbon, number of keys, bits per key.
using Kind = std::tuple<bool, bool, int, int>;

Kind KindOf(const TableGroup& group) {
  constexpr double kSizesPerDoubling = 4.0;
  constexpr double kStepsPerBit = 16.0;
  const auto keys = static_cast<double>(group.keys) / static_cast<double>(group.tables);
  return {group.bottommost, group.ribbon,
          static_cast<int>(kSizesPerDoubling * std::log2(keys + 1.0)),
          static_cast<int>(kStepsPerBit * group.bits_per_key)};
}

void Merge(const TableGroup& some, TableGroup* sum) {
  const auto keys = static_cast<double>(some.keys);
  const auto before = static_cast<double>(sum->keys);
  sum->bits_per_key =
      (sum->bits_per_key * before + some.bits_per_key * keys) / std::max(1.0, before + keys);
  sum->tables += some.tables;
  sum->keys += some.keys;
  sum->bottommost = some.bottommost;
  sum->ribbon = some.ribbon;
  sum->asked += some.asked;
}

std::vector<TableGroup> MergeAlike(const std::vector<TableGroup>& groups) {
  std::map<Kind, TableGroup> alike;
  for (const TableGroup& group : groups) Merge(group, &alike[KindOf(group)]);
  std::vector<TableGroup> merged;
  for (const auto& [kind, group] : alike) merged.push_back(group);
  return merged;
}

// Tables of a level that are rewritten in one step.
struct Step {
  TableGroup tables;
  std::uint64_t filter_bytes = 0;  // now
  std::uint64_t number = 0;
};

std::vector<Step> StepsOf(int level, const std::vector<TreeTable>& tables) {
  // Tables of a large level get nearly the same, so some of them share a step.
  constexpr std::size_t kMostSteps = 256;
  const std::size_t most = level == 0 ? 1 : tables.size() / kMostSteps + 1;
  std::vector<Step> steps;
  for (const TreeTable& table : tables) {
    const bool continues = !steps.empty() && steps.back().tables.tables < most &&
                           steps.back().tables.bottommost == table.bottommost;
    if (!continues) steps.emplace_back();
    Merge({1, table.keys, 0.0, table.bottommost, false, table.asked}, &steps.back().tables);
    steps.back().filter_bytes += table.filter_bytes;
  }
  return steps;
}

// A live tree in which one table after the other is rewritten.
class SimulatedTree {
 public:
  SimulatedTree(const BloomFilterPolicyOptions& options, std::map<int, std::vector<Step>>* levels)
      : division_(DivisionOf(FilterKind::kClassic, options)) {
    std::vector<tree::LiveTable> live;
    for (auto& [level, steps] : *levels) {
      for (Step& step : steps) {
        step.number = ++last_number_;
        // Without a budget, the plugin does not read the sizes of filters.
        const auto bytes =
            options.memory_budget != 0 ? std::optional(step.filter_bytes) : std::nullopt;
        live.push_back({level, step.number, {step.tables.keys, bytes}});
      }
    }
    shape_.Refresh(shape_.Changes(), {{kFamily, live}});
  }

  // Decides about the filters of the tables as the plugin does: of partitions and of Ribbon filters
  // before it knows their keys.
  void Allocate(int level, bool partitioned, TableGroup* group) const {
    const auto view = shape_.View(kFamily, last_job_ + 1, level);
    if (!view) return;
    group->ribbon = division_.WantsRibbon(*view);
    const std::uint64_t keys = group->ribbon || partitioned ? 0 : group->keys / group->tables;
    group->bits_per_key = division_.Share(*view, static_cast<double>(keys)).bits_per_key;
  }

  // As CompactFiles does it: one table is added, another is deleted.
  void Replace(std::uint64_t number, int level, const tree::TableCount& count) {
    shape_.AddUnreported(kFamily, ++last_job_, {level, ++last_number_, count});
    shape_.Delete(number);
  }

 private:
  static constexpr char kFamily[] = "default";

  tree::TreeDivision division_;
  tree::LsmShape shape_;
  std::uint64_t last_number_ = 0;
  tree::LsmShape::JobId last_job_ = 0;
};

}  // namespace

TreeGroups GroupTables(const TreeLevels& levels, double bits_per_key) {
  TreeGroups groups;
  for (const auto& [level, tables] : levels) {
    std::vector<TableGroup> all;
    for (const TreeTable& table : tables) {
      all.push_back({1, table.keys, bits_per_key, table.bottommost, false, table.asked});
    }
    groups[level] = MergeAlike(all);
  }
  return groups;
}

TreeGroups SimulateRebuild(const BloomFilterPolicyOptions& options, bool partitioned,
                           const TreeLevels& levels,
                           const std::function<std::uint64_t(const TableGroup&)>& bytes) {
  std::map<int, std::vector<Step>> steps_of_levels;
  for (const auto& [level, tables] : levels) steps_of_levels[level] = StepsOf(level, tables);
  SimulatedTree tree(options, &steps_of_levels);
  TreeGroups rebuilt;
  for (auto level = steps_of_levels.rbegin(); level != steps_of_levels.rend(); ++level) {
    std::vector<TableGroup> groups;
    for (const Step& step : level->second) {
      TableGroup& group = groups.emplace_back(step.tables);
      tree.Allocate(level->first, partitioned, &group);
      const std::uint64_t filter_bytes = bytes(group);
      if (filter_bytes == 0) group.bits_per_key = 0.0;
      tree.Replace(step.number, level->first, {group.keys, filter_bytes});
    }
    rebuilt[level->first] = MergeAlike(groups);
  }
  return rebuilt;
}

}  // namespace exactbloom::tool
