// exactbloom advise: the best filter setting for the same memory.
#include "advise.h"

#include <fmt/format.h>

#include "exactbloom/tree_listener.h"
#include "plugin/allocation/allocation.h"
#include "tool/output.h"
#include "tool/support/errors.h"
#include "tool/support/own_policy.h"

namespace exactbloom::tool {
namespace {

using support::InputError;

// The share of the column family in --memory, by keys; otherwise the bytes of its present filters,
// or of filters of the default size if it has none.
std::uint64_t MemoryOf(const Tree& tree, const std::vector<Tree>& trees,
                       const AdviseArguments& arguments) {
  const auto keys = static_cast<double>(tree.Keys());
  if (arguments.memory_bytes) {
    double all_keys = 0.0;
    for (const Tree& other : trees) all_keys += static_cast<double>(other.Keys());
    return static_cast<std::uint64_t>(static_cast<double>(*arguments.memory_bytes) * keys /
                                      all_keys);
  }
  const std::uint64_t now = SumOf(tree.filters).bytes;
  const double by_default = PolicyOptions().bits_per_key / 8.0 * keys;
  return now > 0 ? now : static_cast<std::uint64_t>(by_default);
}

std::string PolicyNow(const FamilyOptions* options) {
  if (options == nullptr) return "not known";
  return options->NamesFilterPolicy() ? options->filter_policy : "none";
}

PolicyOptions PresentOptions(const FamilyOptions* options) {
  const BloomFilterPolicy* policy = options == nullptr || options->table == nullptr
                                        ? nullptr
                                        : support::OwnPolicy(options->table->filter_policy.get());
  return policy == nullptr ? PolicyOptions() : policy->Options();
}

void SetLines(const Candidate& best, const Inspection& inspection, FamilyAdvice* advice) {
  const bool follows = FollowsTree(best.options);
  const bool has_listener = inspection.options && HasTreeListener(inspection.options->database);
  if (follows && !has_listener) {
    advice->options_lines = "[DBOptions]\n  listeners=exactbloom_tree\n";
  }
  advice->options_lines +=
      fmt::format("[TableOptions/BlockBasedTable \"{}\"]\n  filter_policy={}\n",
                  advice->tree.column_family, best.policy);
  advice->code_lines = fmt::format(
      "rocksdb::Status status = exactbloom::SetFilterPolicy(&options, \"{}\");\n", best.policy);
}

FamilyAdvice AdviseFamily(const Tree& tree, std::uint64_t memory, const Inspection& inspection) {
  const FamilyOptions* options = inspection.OptionsOf(tree.column_family);
  FamilyAdvice advice;
  advice.tree = tree;
  advice.policy = PolicyNow(options);
  advice.memory = memory;
  advice.candidates = FindCandidates(tree, PresentOptions(options), memory);
  advice.warnings = WarningsOf(tree.column_family, inspection);
  if (advice.candidates.empty()) {
    throw InputError(
        fmt::format("{} bytes are too few for a filter of the {} keys of column family {}", memory,
                    tree.Keys(), tree.column_family));
  }
  const std::size_t choice = Choose(advice.candidates);
  const Candidate& best = advice.candidates[choice];
  const FilterSums now = SumOf(tree.filters);
  const bool keeps = now.bytes <= memory &&
                     now.wasted_reads <= best.filters.wasted_reads * (1.0 + kWorthwhileGain);
  if (keeps) return advice;
  advice.best = choice;
  SetLines(best, inspection, &advice);
  return advice;
}

// A rebuild sets one policy for all column families, so with several of them it takes the policies
// of the OPTIONS file.
std::string RebuildCommand(const FamilyAdvice& family, const Advice& advice) {
  if (advice.families.size() > 1) return "exactbloom rebuild --bits " + advice.database;
  return fmt::format("exactbloom rebuild --bits --policy '{}' {}",
                     family.candidates[*family.best].policy, advice.database);
}

Advice Advise(const AdviseArguments& arguments) {
  const Inspection inspection = Inspect({arguments.path}, arguments.lookups);
  if (inspection.database.empty()) {
    throw InputError(fmt::format("{} is a file: advise takes a database", arguments.path));
  }
  Advice advice;
  advice.database = inspection.database;
  advice.no_options_reason = inspection.no_options_reason;
  if (inspection.options) advice.options_file = inspection.options->file;
  advice.unreadable = inspection.totals.unreadable;
  const std::vector<Tree> trees = TreesOf(inspection);
  for (const Tree& tree : trees) {
    support::CheckForInterrupts();
    advice.families.push_back(AdviseFamily(tree, MemoryOf(tree, trees, arguments), inspection));
  }
  if (advice.families.empty() && advice.unreadable == 0) {
    throw InputError(fmt::format("{} has no keys in tables yet", advice.database));
  }
  for (FamilyAdvice& family : advice.families) {
    if (family.best) family.rebuild_command = RebuildCommand(family, advice);
  }
  return advice;
}

}  // namespace

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
