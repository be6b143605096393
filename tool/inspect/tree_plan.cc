#include "tree_plan.h"

#include <fmt/format.h>

#include "plugin/allocation/allocation.h"
#include "plugin/policy_options.h"
#include "src/analysis/run_division.h"
#include "tool/database/tree_filters.h"
#include "tool/output.h"
#include "tool/support/own_policy.h"
#include "tool/support/text_table.h"

namespace exactbloom::tool {
namespace {

std::string ReasonOf(const PolicyOptions& options, const Tree& tree, const PlannedGroup& tables) {
  if (!options.ribbon) return "ribbon=false";
  if (!HasRibbon(options, tree.table_options)) return "partitions are below 1024 bytes";
  const bool is_large = tables.part >= analysis::kRibbonLeastPart;
  if (is_large != tables.ribbon) return "a flush under memory_budget";
  return fmt::format("its run has {:.3g}% of the keys, {} {:g}%", 100.0 * tables.part,
                     is_large ? "at least" : "less than", 100.0 * analysis::kRibbonLeastPart);
}

TreePlan PlanOf(const PolicyOptions& options, const Tree& tree) {
  TreePlan plan;
  plan.column_family = tree.column_family;
  plan.policy = FormatPolicy(options);
  const FollowedTree followed(options, tree.table_options, tree.levels);
  const auto all_keys = static_cast<double>(tree.Keys());
  for (const auto& [level, groups] : tree.levels) {
    for (const TableGroup& group : groups) {
      const std::uint64_t run_keys = level == 0 ? group.keys / group.tables : SumOf(groups).keys;
      const FollowedTree::Filter filter = followed.FilterOf(level, group);
      PlannedGroup tables{
          level,         group.tables,        group.keys, static_cast<double>(run_keys) / all_keys,
          filter.ribbon, filter.bits_per_key, ""};
      tables.reason = ReasonOf(options, tree, tables);
      plan.tables.push_back(std::move(tables));
    }
  }
  const FilterSums sums = SumOf(PredictFilters(options, tree));
  plan.bits_per_key = 8.0 * static_cast<double>(sums.bytes) / all_keys;
  plan.wasted_reads = sums.wasted_reads;
  return plan;
}

}  // namespace

std::vector<TreePlan> PlansOf(const Inspection& inspection) {
  std::vector<TreePlan> plans;
  for (const Tree& tree : TreesOf(inspection)) {
    const FamilyOptions* family = inspection.OptionsOf(tree.column_family);
    const BloomFilterPolicy* policy =
        family == nullptr ? nullptr : support::OwnPolicy(family->reader.get());
    if (policy == nullptr || !FollowsTree(policy->Options())) continue;
    plans.push_back(PlanOf(policy->Options(), tree));
  }
  return plans;
}

std::string FormatPlan(const TreePlan& plan) {
  support::TextTable text({"level", "tables", "keys", "filter", "bits/key", "because"});
  for (const PlannedGroup& tables : plan.tables) {
    text.AddRow({LevelName(tables.level), tables.tables, tables.keys,
                 tables.ribbon ? "ribbon" : "classic bloom",
                 fmt::format("{:.3f}", tables.bits_per_key), tables.reason});
  }
  return fmt::format(
      "\nIf all tables of [{}] were written now, {} would give them {:.3f} bits per key and waste "
      "{:.6f} "
      "reads:\n\n{}",
      plan.column_family, plan.policy, plan.bits_per_key, plan.wasted_reads, text.Format());
}

nlohmann::json ToJson(const TreePlan& plan) {
  nlohmann::json tables = nlohmann::json::array();
  for (const PlannedGroup& planned : plan.tables) {
    tables.push_back({{"level", planned.level},
                      {"tables", planned.tables},
                      {"keys", planned.keys},
                      {"part_of_keys", planned.part},
                      {"filter", planned.ribbon ? "ribbon" : "classic_bloom"},
                      {"bits_per_key", planned.bits_per_key},
                      {"reason", planned.reason}});
  }
  return {{"column_family", plan.column_family},
          {"policy", plan.policy},
          {"bits_per_key", plan.bits_per_key},
          {"wasted_reads", plan.wasted_reads},
          {"tables", tables}};
}

}  // namespace exactbloom::tool
