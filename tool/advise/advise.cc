// exactbloom advise: the best filter setting for the same memory.
#include "advise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exactbloom/tree_listener.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/policy_options.h"
#include "tool/output.h"
#include "tool/support/errors.h"

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
  const std::uint64_t now = tree.Now().bytes;
  const double by_default = PolicyOptions().bits_per_key / 8.0 * keys;
  return now > 0 ? now : static_cast<std::uint64_t>(by_default);
}

std::string PolicyNow(const FamilyOptions* options) {
  if (options == nullptr) return "not known";
  return options->NamesFilterPolicy() ? options->filter_policy : "none";
}

PolicyOptions PresentOptions(const FamilyOptions* options) {
  const BloomFilterPolicy* policy =
      options == nullptr ? nullptr : BloomFilterPolicy::Of(options->reader.get());
  return policy == nullptr ? PolicyOptions() : policy->Options();
}

void SetLines(const TreePlan& best, const Inspection& inspection, FamilyAdvice* advice) {
  const bool follows = FollowsTree(best.options);
  const bool has_listener = inspection.options && HasTreeListener(inspection.options->database);
  if (follows && !has_listener) {
    std::vector<std::string> listeners{kTreeListenerName};
    if (inspection.options) {
      const auto& others = inspection.options->listeners;
      listeners.insert(listeners.begin(), others.begin(), others.end());
    }
    advice->listener_lines = fmt::format(
        "[DBOptions]\n{}  listeners={}\n",
        listeners.size() == 1 ? ""
                              : "  # RocksDB drops those that the program has not registered.\n",
        fmt::join(listeners, ":"));
  }
  advice->options_lines = fmt::format("[TableOptions/BlockBasedTable \"{}\"]\n  filter_policy={}\n",
                                      advice->tree.column_family, best.policy);
  advice->code_line =
      best.ribbonfilter
          ? fmt::format(
                "table_options.filter_policy.reset(rocksdb::NewRibbonFilterPolicy({:g}, -1));",

                best.options.bits_per_key)
          : fmt::format("rocksdb::Status status = exactbloom::SetFilterPolicy(&options, \"{}\");",
                        best.policy);
}

FamilyAdvice AdviseFamily(const Tree& tree, std::uint64_t memory, const Inspection& inspection,
                          const InfoLog& log) {
  const FamilyOptions* options = inspection.OptionsOf(tree.column_family);
  FamilyAdvice advice;
  advice.tree = tree;
  advice.policy = PolicyNow(options);
  advice.memory = memory;
  advice.candidates = FindCandidates(tree, PresentOptions(options), memory);
  advice.warnings = WarningsOf(tree.column_family, inspection, log);
  if (advice.candidates.empty()) {
    throw InputError(
        fmt::format("the memory is too small for a filter of the {} keys of column family {}, "
                    "whose share is {} bytes",
                    tree.Keys(), tree.column_family, memory));
  }
  const std::size_t choice = Choose(advice.candidates);
  const TreePlan& best = advice.candidates[choice];
  const FilterSums now = tree.Now();
  const bool keeps = now.bytes <= memory &&
                     now.wasted_reads <= best.filters.wasted_reads * (1.0 + kWorthwhileGain);
  if (keeps) return advice;
  advice.best = choice;
  SetLines(best, inspection, &advice);
  return advice;
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
  advice.log = ReadInfoLog(advice.database);
  const std::vector<Tree> trees = TreesOf(inspection);
  for (const Tree& tree : trees) {
    support::CheckForInterrupts();
    if (!arguments.column_family.empty() && tree.column_family != arguments.column_family) continue;
    advice.families.push_back(
        AdviseFamily(tree, MemoryOf(tree, trees, arguments), inspection, advice.log));
  }
  if (advice.families.empty() && !arguments.column_family.empty()) {
    throw InputError(fmt::format("{} has no keys in tables of column family {}", advice.database,
                                 arguments.column_family));
  }
  if (advice.families.empty() && advice.unreadable == 0) {
    throw InputError(fmt::format("{} has no keys in tables yet", advice.database));
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
