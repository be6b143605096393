#include "advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "exactbloom/bloom_filter.h"
#include "setting_shapes.h"
#include "support/errors.h"

namespace exactbloom::tool {
namespace {

// Where there is nothing to keep to: the usual number.
double UsualBytes(const TreeShape& tree) {
  return kDefaultBitsPerKey / 8.0 * static_cast<double>(tree.Keys());
}

double MemoryOf(const TreeShape& tree, const std::vector<TreeShape>& trees,
                const AdviceQuestion& question) {
  if (!question.memory_bytes) {
    const auto now = static_cast<double>(tree.FilterBytes());
    return now > 0.0 ? now : UsualBytes(tree);
  }
  double keys = 0.0;
  for (const TreeShape& other : trees) keys += static_cast<double>(other.Keys());
  return static_cast<double>(*question.memory_bytes) * static_cast<double>(tree.Keys()) / keys;
}

Constraint ConstraintOf(const TreeShape& tree, const std::vector<TreeShape>& trees,
                        const AdviceQuestion& question) {
  if (question.rate) return {Goal::kRate, *question.rate};
  if (question.wasted_reads) return {Goal::kWastedReads, *question.wasted_reads};
  return {Goal::kMemory, MemoryOf(tree, trees, question)};
}

std::uint64_t LeftByRebuild(const FamilyFindings& findings, const BloomFilterPolicyOptions& best) {
  std::uint64_t left = 0;
  for (const TableReport* table : findings.tables) {
    const TableFilter& filter = table->filter;
    const bool ribbon = best.bottommost == BottommostFilter::kRibbon &&
                        filter.level == findings.tree->levels.back().level &&
                        findings.tree->levels.back().deepest;
    const bool same = filter.family == FilterFamily::kExactBloom &&
                      filter.layout == Layout(FilterKind::kClassic, best.lines);
    if (ribbon ? filter.family == FilterFamily::kRibbon : same) ++left;
  }
  return left;
}

std::string PolicyNow(const FamilyFindings& findings) {
  if (findings.options == nullptr) return "not known";
  return findings.options->NamesFilterPolicy() ? findings.options->filter_policy : "none";
}

[[noreturn]] void RefuseConstraint(const Constraint& constraint, const TreeShape& tree) {
  if (constraint.goal == Goal::kMemory) {
    throw support::InputError(
        fmt::format("--memory: {:.0f} bytes are no filter for the {} keys of column family {}",
                    constraint.value, tree.Keys(), tree.column_family));
  }
  throw support::InputError(fmt::format("no setting keeps column family {} to {:g}",
                                        tree.column_family, constraint.value));
}

FamilyAdvice AdviseFamily(const FamilyFindings& findings, Constraint constraint,
                          double read_nanoseconds) {
  FamilyAdvice advice;
  advice.tree = *findings.tree;
  advice.constraint = constraint;
  advice.tables = findings.tables.size();
  if (constraint.goal == Goal::kWastedReads &&
      constraint.value >= static_cast<double>(advice.tree.Runs())) {
    throw support::InputError(
        fmt::format("--wasted-reads {:g} needs no filter: column family {} has {} sorted runs",
                    constraint.value, advice.tree.column_family, advice.tree.Runs()));
  }
  std::vector<Candidate> found = FindCandidates(advice.tree, constraint, read_nanoseconds);
  if (found.empty()) RefuseConstraint(constraint, advice.tree);
  std::sort(found.begin(), found.end(), [&](const Candidate& a, const Candidate& b) {
    return CostOf(a, constraint.goal) < CostOf(b, constraint.goal);
  });
  const std::size_t best = Choose(found, constraint.goal);
  const Candidate now = CandidateOfNow(advice.tree, PolicyNow(findings), read_nanoseconds);
  const bool keep =
      Meets(now, constraint) && CostOf(now, constraint.goal) <=
                                    CostOf(found[best], constraint.goal) * (1.0 + kWorthwhileGain);
  advice.best = keep ? 0 : best + 1;
  advice.left_by_rebuild = LeftByRebuild(findings, found[best].options);
  advice.candidates.push_back(now);
  advice.candidates.insert(advice.candidates.end(), found.begin(), found.end());
  advice.traps = FindTraps(findings);
  return advice;
}

// Takes the counters of a file that the user names, else of the database's log.
LogFindings ReadCounters(const AdviceQuestion& question, Advice* advice) {
  LogFindings log = ReadDatabaseLog(advice->database);
  advice->counters_source = advice->database + "/LOG";
  if (!question.statistics_file.empty()) {
    std::ifstream file(question.statistics_file);
    if (!file) {
      throw support::InputError(fmt::format("{} cannot be read", question.statistics_file));
    }
    log.counters = ReadLog(file).counters;
    advice->counters_source = question.statistics_file;
    if (!log.counters) {
      throw support::InputError(fmt::format(
          "{} has no counters as Statistics::ToString() writes them", question.statistics_file));
    }
  }
  advice->counters = log.counters;
  if (!log.counters) {
    advice->counters_source = fmt::format(
        "{}/LOG has none: Options::statistics is not set, or stats_dump_period_sec has not passed",
        advice->database);
  }
  return log;
}

void CheckQuestion(const AdviceQuestion& question) {
  if (question.rate && !(*question.rate >= kMinTargetRate && *question.rate <= kMaxTargetRate)) {
    throw support::InputError(fmt::format("--fpr {:g} is outside the range of {:g} to {:g}",
                                          *question.rate, kMinTargetRate, kMaxTargetRate));
  }
  if (question.wasted_reads && !(*question.wasted_reads > 0.0)) {
    throw support::InputError(
        fmt::format("--wasted-reads {:g} must be above zero", *question.wasted_reads));
  }
  if (!(question.read_nanoseconds >= 0.0)) {
    throw support::InputError("--read-latency must not be below zero");
  }
}

}  // namespace

const char* NameOf(Goal goal) {
  switch (goal) {
    case Goal::kMemory:
      return "memory";
    case Goal::kRate:
      return "fpr";
    case Goal::kWastedReads:
      return "wasted_reads";
  }
  return "";
}

Advice Advise(const AdviceQuestion& question) {
  CheckQuestion(question);
  const Inspection inspection = Inspect({question.path});
  if (inspection.database.empty()) {
    throw support::InputError(fmt::format("{} is a file: advise takes a database", question.path));
  }
  Advice advice;
  advice.question = question;
  advice.database = inspection.database;
  advice.no_options_reason = inspection.no_options_reason;
  if (inspection.options) advice.options_file = inspection.options->file;
  advice.unreadable = inspection.totals.unreadable;
  const LogFindings log = ReadCounters(question, &advice);
  const std::vector<TreeShape> trees = ShapesOf(inspection);
  for (const TreeShape& tree : trees) {
    if (tree.Keys() == 0) continue;
    advice.families.push_back(AdviseFamily(FindingsOf(tree, inspection, log),
                                           ConstraintOf(tree, trees, question),
                                           question.read_nanoseconds));
  }
  if (advice.families.empty() && advice.unreadable == 0) {
    throw support::InputError(fmt::format("{} has no keys in tables yet", advice.database));
  }
  return advice;
}

}  // namespace exactbloom::tool
