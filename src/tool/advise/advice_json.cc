#include "advise.h"

namespace exactbloom::tool {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckCost, in_cache, in_memory)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Diagnostic, name, seen, remedy)

namespace {

using nlohmann::json;

json CountersJson(const std::optional<FilterCounters>& counters) {
  if (!counters) return nullptr;
  return {{"lookups", counters->lookups},
          {"absent_checks", counters->AbsentChecks()},
          {"false_positives", counters->FalsePositives()},
          {"cache_hits", counters->cache_hits},
          {"cache_misses", counters->cache_misses}};
}

json CostModelJson(const LookupCosts& costs) {
  json nanoseconds = json::object();
  for (const CheckedFilter filter : kCheckedFilters) {
    nanoseconds[NameOf(filter)] = costs.Of(filter);
  }
  return {{"check_costs", costs.measured ? "measured" : "fixed"},
          {"check_nanoseconds", nanoseconds},
          {"cached_filter_bytes", kCachedFilterBytes},
          {"read_nanoseconds", costs.read_nanoseconds}};
}

json LevelJson(const TreeLevel& level) {
  json filters = json::object();
  for (const auto& [filter, share] : level.filters) filters[NameOf(filter)] = share;
  return {{"level", level.level},
          {"sorted_runs", level.Runs()},
          {"tables", level.tables.size()},
          {"keys", level.keys},
          {"filters", filters},
          {"filter_bytes", level.filter_bytes},
          {"asked", level.asked},
          {"wasted_reads", level.wasted_reads}};
}

json CandidateJson(const Candidate& candidate) {
  return {{"policy", candidate.policy},
          {"filter_bytes", candidate.filters.bytes},
          {"wasted_reads", candidate.filters.wasted_reads},
          {"worst_rate", candidate.filters.worst_rate},
          {"check_nanoseconds", candidate.filters.check_nanoseconds},
          {"lookup_nanoseconds", candidate.filters.lookup_nanoseconds}};
}

json AdviceJson(const FamilyAdvice& family) {
  if (family.best == 0) return nullptr;
  json advice = CandidateJson(family.candidates[family.best]);
  advice.update({{"options", family.lines.options},
                 {"code", family.lines.code},
                 {"rebuild", family.rebuild_command},
                 {"tables_left_by_rebuild", family.left_by_rebuild}});
  return advice;
}

json BoundedJson(const FamilyAdvice& family) {
  if (!family.bounded) return nullptr;
  json bounded = CandidateJson(*family.bounded);
  bounded.update({{"options", family.bounded_lines.options}, {"code", family.bounded_lines.code}});
  return bounded;
}

json ConstraintJson(Constraint constraint) {
  switch (constraint.goal) {
    case Goal::kMemory:
      return {{"goal", "memory"}, {"value", constraint.value}};
    case Goal::kRate:
      return {{"goal", "fpr"}, {"value", constraint.value}};
    case Goal::kWastedReads:
      return {{"goal", "wasted_reads"}, {"value", constraint.value}};
  }
  return nullptr;
}

json FamilyJson(const FamilyAdvice& family) {
  json levels = json::array();
  for (const TreeLevel& level : family.tree.levels) levels.push_back(LevelJson(level));
  json candidates = json::array();
  for (std::size_t i = 1; i < family.candidates.size(); ++i) {
    candidates.push_back(CandidateJson(family.candidates[i]));
  }
  return {{"column_family", family.tree.column_family},
          {"keys", family.tree.Keys()},
          {"sorted_runs", family.tree.Runs()},
          {"levels", levels},
          {"constraint", ConstraintJson(family.constraint)},
          {"now", CandidateJson(family.candidates.front())},
          {"candidates", candidates},
          {"advice", AdviceJson(family)},
          {"memory_budget", BoundedJson(family)},
          {"diagnostics", family.diagnostics}};
}

}  // namespace

json ToJson(const Advice& advice) {
  json families = json::array();
  for (const FamilyAdvice& family : advice.families) families.push_back(FamilyJson(family));
  return {{"database", advice.database},
          {"options_file", advice.options_file.empty() ? json(nullptr) : json(advice.options_file)},
          {"worthwhile_gain", kWorthwhileGain},
          {"counters", CountersJson(advice.counters)},
          {"cost_model", CostModelJson(advice.costs)},
          {"column_families", families},
          {"unreadable_tables", advice.unreadable}};
}

}  // namespace exactbloom::tool
