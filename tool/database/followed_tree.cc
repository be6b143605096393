#include "followed_tree.h"

#include <optional>

#include "plugin/allocation/allocation.h"

namespace exactbloom::tool {

void TableGroup::Add(const TableGroup& other) {
  tables += other.tables;
  keys += other.keys;
  bottommost = other.bottommost;
  asked += other.asked;
}

FollowedTree::FollowedTree(const PolicyOptions& options,
                           const rocksdb::BlockBasedTableOptions& table_options,
                           const TreeLevels& levels)
    : division_(DivisionOptionsOf(options, HasRibbon(options, table_options))),
      budget_bytes_(static_cast<double>(BytesOfBudget(options))) {
  std::vector<tree::LiveTable> live;
  for (const auto& [level, groups] : levels) {
    for (const TableGroup& group : groups) {
      for (std::uint64_t i = 0; i < group.tables; ++i) {
        live.push_back({level, live.size() + 1, {group.keys / group.tables, std::nullopt}});
      }
    }
  }
  shape_.Refresh(shape_.Changes(), {{kFamily, live}});
}

FollowedTree::Filter FollowedTree::FilterOf(int level, const TableGroup& tables) const {
  constexpr tree::LsmShape::JobId kJob = 1;
  auto view = shape_.View(kFamily, kJob, level);
  if (!view) return {};
  view->budget_bytes = budget_bytes_;
  Filter filter;
  const auto keys = static_cast<double>(tables.keys / tables.tables);
  filter.ribbon = division_.WantsRibbon(*view, keys);
  const tree::TableShare share = division_.Share(*view, keys);
  filter.bits_per_key = share.planned.empty() ? share.bits_per_key : share.planned.back();
  return filter;
}

}  // namespace exactbloom::tool
