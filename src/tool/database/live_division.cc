#include "live_division.h"

#include <cstddef>
#include <vector>

#include "plugin/tree/tree_division.h"
#include "support/own_policy.h"

namespace exactbloom::tool {
namespace {

std::vector<double> Divide(const BloomFilterPolicy& policy,
                           const std::vector<const FilterSummary*>& levels) {
  const tree::TreeDivision division(DivisionOptionsOf(policy.Layout(), policy.Options()));
  std::vector<tree::RunsOfSize> runs;
  for (const FilterSummary* level : levels) {
    // Level 0 has as many runs as it has tables.
    const double count = level->level == 0 ? static_cast<double>(level->tables) : 1.0;
    runs.push_back({static_cast<double>(level->entries) / count, count, 0.0, 0.0});
  }
  return division.Plan(runs);
}

}  // namespace

std::map<std::pair<std::string, int>, double> PlannedBits(const Inspection& inspection) {
  std::map<std::pair<std::string, int>, double> planned;
  if (!inspection.options) return planned;
  for (const auto& [name, family] : inspection.options->families) {
    if (family.table == nullptr) continue;
    const auto* policy = support::OwnPolicy(family.table->filter_policy.get());
    if (policy == nullptr || !FollowsTree(policy->Options())) continue;
    std::vector<const FilterSummary*> levels;
    for (const FilterSummary& level : inspection.levels) {
      const bool is_run = level.level >= 0 && level.entries != 0;
      if (level.column_family == name && is_run) levels.push_back(&level);
    }
    const std::vector<double> bits = Divide(*policy, levels);
    for (std::size_t i = 0; i < bits.size(); ++i) planned[{name, levels[i]->level}] = bits[i];
  }
  return planned;
}

}  // namespace exactbloom::tool
