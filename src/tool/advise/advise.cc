#include "advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "exactbloom/bloom_filter.h"
#include "plugin/policy_options.h"
#include "support/errors.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using support::InputError;

void RequireSense(const AdviseArguments& arguments) {
  if (arguments.rate && !(*arguments.rate >= kMinTargetRate && *arguments.rate <= kMaxTargetRate)) {
    throw InputError(fmt::format("--fpr {:g} is outside the range of {:g} to {:g}", *arguments.rate,
                                 kMinTargetRate, kMaxTargetRate));
  }
  if (arguments.wasted_reads && !(*arguments.wasted_reads > 0.0)) {
    throw InputError(
        fmt::format("--wasted-reads {:g} must be above zero", *arguments.wasted_reads));
  }
}

std::optional<FilterCounters> ReadStatisticsFile(const std::string& path) {
  if (path.empty()) return std::nullopt;
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{} cannot be read", path));
  const auto counters = ReadStatistics(file);
  if (!counters) {
    throw InputError(fmt::format("{} has no counters as Statistics::ToString() writes them", path));
  }
  return counters;
}

Constraint ConstraintOf(const Tree& tree, const std::vector<Tree>& trees,
                        const AdviseArguments& arguments) {
  if (arguments.rate) return {Goal::kRate, *arguments.rate};
  if (arguments.wasted_reads) return {Goal::kWastedReads, *arguments.wasted_reads};
  const auto keys = static_cast<double>(tree.Keys());
  if (arguments.memory_bytes) {
    double all_keys = 0.0;
    for (const Tree& other : trees) all_keys += static_cast<double>(other.Keys());
    return {Goal::kMemory, static_cast<double>(*arguments.memory_bytes) * keys / all_keys};
  }
  const auto now = static_cast<double>(FiltersOf(tree, {}).bytes);
  return {Goal::kMemory, now > 0.0 ? now : BloomFilterPolicyOptions().bits_per_key / 8.0 * keys};
}

[[noreturn]] void RefuseConstraint(const Constraint& constraint, const Tree& tree) {
  if (constraint.goal == Goal::kMemory) {
    throw InputError(fmt::format(
        "--memory: {:.0f} bytes are too few for a filter of the {} keys of column family {}",
        constraint.value, tree.Keys(), tree.column_family));
  }
  throw InputError(fmt::format("no setting keeps column family {} to {:g}", tree.column_family,
                               constraint.value));
}

std::string PolicyNow(const FamilyFindings& findings) {
  if (findings.options == nullptr) return "not known";
  return findings.options->NamesFilterPolicy() ? findings.options->filter_policy : "none";
}

std::uint64_t LeftByRebuild(const FamilyFindings& findings, const BloomFilterPolicyOptions& best) {
  std::uint64_t left = 0;
  for (const TableReport* table : findings.tables) {
    const TableFilter& filter = table->filter;
    const bool ribbon = best.bottommost == BottommostFilter::kRibbon && table->bottommost;
    const bool same = filter.family == FilterFamily::kExactBloom &&
                      filter.layout == Layout(FilterKind::kClassic, best.lines);
    if (ribbon ? filter.family == FilterFamily::kRibbon : same) ++left;
  }
  return left;
}

SettingLines LinesOf(const Candidate& setting, const FamilyFindings& findings) {
  SettingLines lines;
  if (FollowsTree(setting.options)) {
    if (!findings.HasTreeListener()) lines.options = "[DBOptions]\n  listeners=exactbloom_tree\n";
    lines.code = "options.listeners.push_back(exactbloom::NewTreeListener());\n";
  }
  lines.options += fmt::format("[TableOptions/BlockBasedTable \"{}\"]\n  filter_policy={}\n",
                               findings.tree->column_family, setting.policy);
  lines.code = "exactbloom::RegisterFilterPolicies();\n" + lines.code +
               fmt::format(
                   "rocksdb::FilterPolicy::CreateFromString({{}}, \"{}\", "
                   "&table_options.filter_policy);\n",
                   setting.policy);
  return lines;
}

// The best of those that follow the tree, or if there is only one run, of the flat ones.
Candidate Bounded(const std::vector<Candidate>& found, Constraint memory, const Tree& tree,
                  const LookupCosts& costs) {
  std::vector<Candidate> following;
  std::vector<Candidate> flat;
  for (const Candidate& candidate : found) {
    if (FollowsTree(candidate.options)) following.push_back(candidate);
    const bool divides =
        candidate.options.size_ratio != 0.0 || !candidate.options.level_bits.empty();
    if (!divides) flat.push_back(candidate);
  }
  const std::vector<Candidate>& among = following.empty() ? flat : following;
  return WithBudget(among[Choose(among, memory)], tree, static_cast<std::uint64_t>(memory.value),
                    costs);
}

FamilyAdvice AdviseFamily(const FamilyFindings& findings, Constraint constraint, bool is_bounded,
                          const LookupCosts& costs) {
  const Tree& tree = *findings.tree;
  if (constraint.goal == Goal::kWastedReads && constraint.value >= tree.Asked()) {
    throw InputError(fmt::format(
        "--wasted-reads {:g} needs no filter: a lookup of an absent key of column family {} asks "
        "{:.2f} of {} sorted runs",
        constraint.value, tree.column_family, tree.Asked(), tree.Runs()));
  }
  const std::vector<Candidate> found = FindCandidates(tree, constraint, costs);
  if (found.empty()) RefuseConstraint(constraint, tree);
  const Candidate& best = found[Choose(found, constraint)];
  const TreeFilters now = FiltersOf(tree, costs);
  const bool keep =
      constraint.IsMetBy(now) &&
      constraint.CostOf(now) <= constraint.CostOf(best.filters) * (1.0 + kWorthwhileGain);
  FamilyAdvice advice;
  advice.tree = tree;
  advice.constraint = constraint;
  advice.candidates.push_back({PolicyNow(findings), {}, now});
  advice.candidates.insert(advice.candidates.end(), found.begin(), found.end());
  advice.best = keep ? 0 : Choose(found, constraint) + 1;
  advice.lines = LinesOf(best, findings);
  if (is_bounded) {
    advice.bounded = Bounded(found, constraint, tree, costs);
    advice.bounded_lines = LinesOf(*advice.bounded, findings);
  }
  advice.left_by_rebuild = LeftByRebuild(findings, best.options);
  advice.tables = findings.tables.size();
  advice.diagnostics = Diagnose(findings);
  return advice;
}

// A rebuild sets one policy for all column families, so there is no command if their advice
// differs.
void SetRebuildCommands(Advice* advice) {
  for (FamilyAdvice& family : advice->families) {
    const std::string policy =
        advice->families.size() > 1
            ? ""
            : fmt::format("--policy '{}' ", family.candidates[family.best].policy);
    family.rebuild_command = fmt::format("exactbloom rebuild {}{}", policy, advice->database);
  }
}

}  // namespace

Advice Advise(const AdviseArguments& arguments) {
  RequireSense(arguments);
  const Inspection inspection = Inspect({arguments.path}, arguments.lookups);
  if (inspection.database.empty()) {
    throw InputError(fmt::format("{} is a file: advise takes a database", arguments.path));
  }
  Advice advice;
  advice.database = inspection.database;
  advice.no_options_reason = inspection.no_options_reason;
  if (inspection.options) advice.options_file = inspection.options->file;
  advice.unreadable = inspection.totals.unreadable;
  advice.statistics_file = arguments.statistics_file;
  advice.counters = ReadStatisticsFile(arguments.statistics_file);
  advice.costs = arguments.fixed_check_costs ? FixedCosts(arguments.read_nanoseconds)
                                             : MeasureCosts(arguments.read_nanoseconds);
  const std::vector<Tree> trees = TreesOf(inspection);
  for (const Tree& tree : trees) {
    if (tree.Keys() == 0) continue;
    advice.families.push_back(AdviseFamily(FindingsOf(tree, inspection, advice.counters),
                                           ConstraintOf(tree, trees, arguments),
                                           arguments.memory_bytes.has_value(), advice.costs));
  }
  if (advice.families.empty() && advice.unreadable == 0) {
    throw InputError(fmt::format("{} has no keys in tables yet", advice.database));
  }
  SetRebuildCommands(&advice);
  return advice;
}

void RunAdvise(const AdviseArguments& arguments) {
  const Advice advice = Advise(arguments);
  if (arguments.json) {
    PrintJson(ToJson(advice));
  } else {
    fmt::print("{}", FormatAdvice(advice));
  }
  if (advice.unreadable != 0) {
    throw support::Findings(
        fmt::format("left out: {} that cannot be read", Counted(advice.unreadable, "table")));
  }
}

}  // namespace exactbloom::tool
