#include <nlohmann/json.hpp>

#include "advice.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

json CountersJson(const Advice& advice) {
  if (!advice.counters) return nullptr;
  const FilterCounters& counters = *advice.counters;
  return {{"lookups", counters.lookups},
          {"absent_checks", counters.AbsentChecks()},
          {"false_positives", counters.FalsePositives()},
          {"cache_hits", counters.cache_hits},
          {"cache_misses", counters.cache_misses}};
}

json CostModelJson() {
  json nanoseconds = json::object();
  for (const CheckCost& cost : kCheckCosts) {
    if (cost.filter == CheckedFilter::kNone) continue;
    nanoseconds[cost.name] = {{"in_cache", cost.in_cache}, {"in_memory", cost.in_memory}};
  }
  return {{"source", "docs/performance.md"},
          {"cached_filter_bytes", kCachedFilterBytes},
          {"check_nanoseconds", nanoseconds}};
}

json LevelJson(const LevelShape& level) {
  json filters = json::object();
  for (const CheckCost& cost : kCheckCosts) {
    const auto filter = level.filters.find(cost.filter);
    if (filter != level.filters.end()) filters[cost.name] = filter->second;
  }
  return {{"level", level.level},
          {"sorted_runs", level.runs},
          {"tables", level.tables},
          {"keys", level.keys},
          {"filters", filters},
          {"filter_bytes", level.filter_bytes},
          {"wasted_reads", level.wasted_reads}};
}

json CandidateJson(const Candidate& candidate) {
  return {{"policy", candidate.policy},
          {"filter_bytes", candidate.filters.bytes},
          {"wasted_reads", candidate.filters.wasted_reads},
          {"worst_rate", candidate.filters.worst_rate},
          {"check_nanoseconds", candidate.filters.nanoseconds},
          {"lookup_nanoseconds", candidate.nanoseconds}};
}

json FamilyJson(const Advice& advice, const FamilyAdvice& family) {
  json levels = json::array();
  for (const LevelShape& level : family.tree.levels) levels.push_back(LevelJson(level));
  json candidates = json::array();
  for (std::size_t i = 1; i < family.candidates.size(); ++i) {
    candidates.push_back(CandidateJson(family.candidates[i]));
  }
  json traps = json::array();
  for (const Trap& trap : family.traps) {
    traps.push_back({{"name", trap.name}, {"seen", trap.seen}, {"remedy", trap.remedy}});
  }
  json document{{"column_family", family.tree.column_family},
                {"keys", family.tree.Keys()},
                {"sorted_runs", family.tree.Runs()},
                {"levels", levels},
                {"constraint",
                 {{"goal", NameOf(family.constraint.goal)}, {"value", family.constraint.value}}},
                {"now", CandidateJson(family.candidates.front())},
                {"candidates", candidates},
                {"advice", nullptr},
                {"traps", traps}};
  if (family.best != 0) {
    document["advice"] = CandidateJson(family.candidates[family.best]);
    document["advice"].update({{"options", OptionsLines(family)},
                               {"code", CodeLines(family)},
                               {"rebuild", RebuildCommand(advice, family)},
                               {"tables_left_by_rebuild", family.left_by_rebuild}});
  }
  return document;
}

}  // namespace

json ToJson(const Advice& advice) {
  json families = json::array();
  for (const FamilyAdvice& family : advice.families) {
    families.push_back(FamilyJson(advice, family));
  }
  return {{"database", advice.database},
          {"options_file", advice.options_file.empty() ? json(nullptr) : json(advice.options_file)},
          {"read_nanoseconds", advice.question.read_nanoseconds},
          {"worthwhile_gain", kWorthwhileGain},
          {"counters", CountersJson(advice)},
          {"counters_source", advice.counters_source},
          {"cost_model", CostModelJson()},
          {"column_families", families},
          {"unreadable_tables", advice.unreadable}};
}

}  // namespace exactbloom::tool
