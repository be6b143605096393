// exactbloom advise: the best filter setting for the same memory.
#include "advise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "exactbloom/tree_listener.h"
#include "logged_database.h"
#include "plugin/policy_options.h"
#include "support/errors.h"
#include "tool/database/filter_keys.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

using support::InputError;

std::string PolicyNow(const FamilyOptions* options) {
  if (options == nullptr) return "not known";
  return options->NamesFilterPolicy() ? Escaped(options->filter_policy) : "none";
}

// Of `policy` if all tables are rewritten with it now.
void PredictRewritten(const FamilyOptions* options, FamilyAdvice* advice) {
  if (options == nullptr) {
    advice->unpredictable = "no OPTIONS file has its setting";
  } else if (!options->NamesFilterPolicy()) {
    PolicyOptions none;
    none.bits_per_key = 0.0;
    advice->rewritten = PlanOf(none, advice->trees);
    advice->rewritten->policy = advice->policy;
  } else if (IsNameAlone(options->filter_policy)) {
    advice->unpredictable = "RocksDB's C interface does not write its bits per key";
  } else if (options->reader == nullptr) {
    advice->unpredictable = "this program does not know the policy";
  } else if (const auto ours = options->Ours()) {
    const rocksdb::Status status = ValidatePolicyOptions(*ours);
    if (status.ok()) advice->rewritten = PlanOf(*ours, advice->trees);
    if (!status.ok()) advice->unpredictable = Describe(status);
  } else {
    advice->rewritten = PlanOf(*options->reader, options->filter_policy, advice->trees.front());
  }
}

// Whether the tables have other filters than the present setting gives: none that lookups use,
// those of another policy, or smaller ones. A tree that grew with the setting has from 96% of the
// bytes on that it has if all tables are rewritten now.
bool HasOtherFilters(const FamilyAdvice& advice, const FamilyOptions& options,
                     const Inspection& inspection) {
  constexpr double kSmaller = 0.9;
  const auto rewritten = static_cast<double>(advice.rewritten->filters.bytes);
  if (static_cast<double>(advice.Now().bytes) < kSmaller * rewritten) return true;
  return std::any_of(
      inspection.tables.begin(), inspection.tables.end(), [&](const TableReport& table) {
        const bool counts = table.location.column_family == advice.Name() && table.NeedsFilter();
        return counts && !IsWithoutPrefix(table, options) &&
               (!table.Filters() || options.reader == nullptr ||
                table.filter.policy != options.reader->Name());
      });
}

bool HasOurFilters(const std::string& column_family, const Inspection& inspection) {
  const auto is_ours = [&](const TableReport& table) {
    return table.location.column_family == column_family && table.HasFilter() &&
           IsOurs(table.filter.family);
  };
  return std::any_of(inspection.tables.begin(), inspection.tables.end(), is_ours);
}

// The share of the column family in --memory, by the keys that get filters; otherwise the bytes of
// filters of the present setting, of the present filters where those are not known, or of the
// default size if there are none.
std::uint64_t MemoryOf(const FamilyAdvice& family, double all_keys,
                       const AdviseArguments& arguments) {
  const auto keys = static_cast<double>(family.trees.front().FilteredKeys());
  if (arguments.memory_bytes) {
    return static_cast<std::uint64_t>(static_cast<double>(*arguments.memory_bytes) * keys /
                                      std::max(1.0, all_keys));
  }
  if (family.rewritten && family.rewritten->filters.bytes != 0) {
    return family.rewritten->filters.bytes;
  }
  const std::uint64_t now = family.Now().bytes;
  const double by_default = PolicyOptions().bits_per_key / 8.0 * keys;
  return now > 0 ? now : static_cast<std::uint64_t>(by_default);
}

// Whether these filters are worth a change of the present setting. Where lookups find keys, fewer
// bytes are, since filters save few reads.
bool AreWorthwhile(const FilterSums& filters, const FamilyAdvice& advice) {
  const FilterSums kept = advice.Kept();
  const bool saves_memory =
      advice.present > 0.0 &&
      kLeastGain * static_cast<double>(filters.bytes) < static_cast<double>(kept.bytes);
  return kept.bytes > advice.memory || saves_memory ||
         advice.Reads(kept) > kLeastGain * advice.Reads(filters);
}

// Advises a candidate, or to keep the present setting if none is worth the change.
void Decide(FamilyAdvice* advice) {
  const double read = advice->present * static_cast<double>(advice->trees.size());
  advice->best = Choose(advice->candidates, read, [&](const TreePlan& candidate) {
    return AreWorthwhile(candidate.filters, *advice);
  });
  advice->compacts = !advice->best && advice->has_other_filters &&
                     advice->Reads(advice->Now()) > kLeastGain * advice->Reads(advice->Kept());
}

void SetLines(const Inspection& inspection, FamilyAdvice* advice) {
  const TreePlan& best = *advice->Best();
  const bool has_listener = inspection.options && HasTreeListener(inspection.options->database);
  if (FollowsTree(best.options) && !has_listener) {
    // RocksDB 7.8 writes several back in braces, and reads these as one name, that of the first.
    std::vector<std::string> listeners{kTreeListenerName};
    if (inspection.options) {
      for (const std::string& other : inspection.options->listeners) listeners.push_back(other);
    }
    advice->listener_lines = fmt::format("[DBOptions]\n  listeners={}\n",
                                         Escaped(fmt::format("{}", fmt::join(listeners, ":"))));
  }
  for (const Tree& tree : advice->trees) {
    const bool is_plain = Escaped(tree.column_family) == tree.column_family &&
                          tree.column_family.find_first_of("#\"\\") == std::string::npos;
    advice->options_lines +=
        is_plain ? fmt::format("[TableOptions/BlockBasedTable \"{}\"]\n  filter_policy={}\n",
                               tree.column_family, best.policy)
                 : fmt::format("# in the section of {}:\n  filter_policy={}\n",
                               Escaped(tree.column_family), best.policy);
  }
  const bool has_families = inspection.families.size() > 1;
  const char* const options = has_families ? "family_options" : "options";
  advice->code_line =
      best.ribbonfilter
          ? fmt::format(
                "table_options.filter_policy.reset(rocksdb::NewRibbonFilterPolicy({:g}, -1));\n"
                "{}.table_factory.reset(\n"
                "    rocksdb::NewBlockBasedTableFactory(table_options));",
                best.options.bits_per_key, options)
          : fmt::format("rocksdb::Status status = exactbloom::SetFilterPolicy(\n    {}, \"{}\");",
                        has_families ? "&db_options, &family_options" : "&options", best.policy);
}

// Finds the setting of column families whose present state is known.
void Complete(const Inspection& inspection, FamilyAdvice* advice) {
  advice->candidates = FindCandidates(advice->trees, advice->base, advice->memory, advice->present);
  if (advice->candidates.empty()) {
    if (advice->ReadsNothingInVain() && advice->Kept().bytes <= advice->memory) return;
    const auto asked = std::find_if(advice->trees.begin(), advice->trees.end(), IsAsked);
    advice->refusal = WhyNoCandidates(asked == advice->trees.end() ? advice->trees.front() : *asked,
                                      advice->base, advice->memory, advice->present);
    return;
  }
  Decide(advice);
  if (advice->best) SetLines(inspection, advice);
}

FamilyAdvice AdviseFamily(const Tree& tree, double all_keys, double present,
                          const AdviseArguments& arguments, const Inspection& inspection,
                          const InfoLog& log) {
  const FamilyOptions* options = inspection.OptionsOf(tree.column_family);
  FamilyAdvice advice;
  advice.trees = {tree};
  advice.policy = PolicyNow(options);
  advice.present = present;
  advice.warnings = WarningsOf(tree.column_family, inspection, log);
  advice.has_our_filters = HasOurFilters(tree.column_family, inspection);
  if (tree.FiltersNoKey()) {
    advice.refusal =
        fmt::format("no key is in any filter, since whole_key_filtering=false and {}",
                    tree.filters_nothing ? "no prefix_extractor is set"
                                         : "no key has a prefix by " + options->prefix_extractor);
    advice.remedy = kSetWholeKeys;
    return advice;
  }
  if (!tree.unknown_keys.empty()) {
    advice.unpredictable = advice.refusal =
        "how many prefixes filters get is not known: " + tree.unknown_keys;
    advice.remedy =
        "compact the column family with a filter policy, and ask again: its filters then count "
        "them";
    return advice;
  }
  PredictRewritten(options, &advice);
  advice.has_other_filters = advice.rewritten && HasOtherFilters(advice, *options, inspection);
  advice.memory = MemoryOf(advice, all_keys, arguments);
  if (options != nullptr) advice.base = options->Ours().value_or(PolicyOptions());
  Complete(inspection, &advice);
  if (log.seeks != 0 && options != nullptr && !options->HasPrefixes()) {
    const TreePlan* best = advice.Best();
    if (best == nullptr && advice.rewritten) best = &*advice.rewritten;
    if (best != nullptr) advice.seeks = AdviseOnSeeks(tree, *best, inspection);
  }
  return advice;
}

// One setting for all that are not refused one, in the memory that they have together.
FamilyAdvice AdviseAll(const std::vector<FamilyAdvice>& families, const Inspection& inspection) {
  FamilyAdvice all;
  std::set<std::string> policies;
  TreePlan rewritten;
  bool is_known = true;
  for (const FamilyAdvice& family : families) {
    if (!family.refusal.empty()) continue;
    all.trees.push_back(family.trees.front());
    policies.insert(family.policy);
    all.memory += family.memory;
    all.present = family.present;
    all.has_other_filters = all.has_other_filters || family.has_other_filters;
    all.has_our_filters = all.has_our_filters || family.has_our_filters;
    const bool has_nothing_to_keep = !HasBudget(all.base) && all.base.hash_seed == 0;
    if (HasBudget(family.base) || has_nothing_to_keep) all.base = family.base;
    is_known = is_known && family.rewritten;
    if (is_known) rewritten.filters.Add(family.rewritten->filters);
    if (!family.unpredictable.empty()) all.unpredictable = family.unpredictable;
  }
  if (all.trees.empty()) return all;
  all.policy =
      policies.size() == 1 ? *policies.begin() : fmt::format("{} settings", policies.size());
  rewritten.policy = all.policy;
  if (is_known) all.rewritten = std::move(rewritten);
  Complete(inspection, &all);
  return all;
}

// What the column families of `trees` have of the tables that filters let pass in vain, which is
// all that the LOG counts: of tables without a filter it knows nothing.
double PartOfPasses(const std::vector<Tree>& trees, const Inspection& inspection) {
  std::set<std::string> names;
  for (const Tree& tree : trees) names.insert(tree.column_family);
  double some = 0.0;
  double all = 0.0;
  for (const TableReport& table : inspection.tables) {
    if (!table.Filters()) continue;
    all += table.WastedReads();
    if (names.count(table.location.column_family) != 0) some += table.WastedReads();
  }
  return all > 0.0 ? some / all : 0.0;
}

// What cannot be read.
std::vector<std::string> LeftOut(const Inspection& inspection, const InfoLog& log) {
  std::vector<std::string> left_out;
  const std::uint64_t tables = inspection.totals.unreadable;
  for (const TableReport& table : inspection.tables) {
    if (table.status.ok()) continue;
    left_out.push_back(fmt::format("{} that cannot be read, such as {}", Counted(tables, "table"),
                                   Describe(table.status)));
    break;
  }
  if (inspection.options_unreadable) left_out.push_back(inspection.no_options_reason);
  if (!log.problem.empty()) left_out.push_back(log.problem);
  return left_out;
}

}  // namespace

std::uint64_t FamilyAdvice::Keys() const {
  std::uint64_t keys = 0;
  for (const Tree& tree : trees) keys += tree.Keys();
  return keys;
}

std::uint64_t FamilyAdvice::Runs() const {
  std::uint64_t runs = 0;
  for (const Tree& tree : trees) runs += tree.Runs();
  return runs;
}

FilterSums FamilyAdvice::Now() const {
  FilterSums now;
  for (const Tree& tree : trees) now.Add(tree.Now());
  return now;
}

bool FamilyAdvice::ReadsNothingInVain() const {
  return present == 1.0 && std::none_of(trees.begin(), trees.end(), IsAsked);
}

std::vector<const FamilyAdvice*> Advice::WithPrefixes() const {
  std::vector<const FamilyAdvice*> some;
  for (const FamilyAdvice& family : families) {
    if (family.seeks && family.seeks->prefix_bytes != 0) some.push_back(&family);
  }
  return some;
}

bool Advice::SeeksOnly() const {
  if (log.seeks <= log.lookups) return false;
  return !WithPrefixes().empty() ||
         (database.empty() &&
          std::any_of(families.begin(), families.end(),
                      [](const FamilyAdvice& family) { return family.seeks.has_value(); }));
}

double Advice::WastedApart() const {
  double wasted = 0.0;
  for (const FamilyAdvice& family : families) {
    if (family.refusal.empty()) wasted += family.Then().wasted_reads;
  }
  return wasted / static_cast<double>(all.trees.size());
}

double PresentShareOf(const AdviseArguments& arguments, const InfoLog& log) {
  return arguments.present ? *arguments.present : log.Present().value_or(0.0);
}

Advice AdviseOn(const Inspection& inspection, const InfoLog& log,
                const AdviseArguments& arguments) {
  Advice advice;
  advice.database = inspection.database;
  advice.no_options_reason = inspection.no_options_reason;
  if (inspection.options) advice.options_file = inspection.options->file;
  advice.unreadable = inspection.totals.unreadable;
  advice.log = log;
  advice.present = PresentShareOf(arguments, advice.log);
  advice.present_is_given = arguments.present || advice.log.Present();
  const std::vector<Tree> trees = TreesOf(inspection);
  double all_keys = 0.0;
  for (const Tree& tree : trees) all_keys += static_cast<double>(tree.FilteredKeys());
  for (const Tree& tree : trees) {
    if (!arguments.column_family.empty() && tree.column_family != arguments.column_family) continue;
    advice.families.push_back(
        AdviseFamily(tree, all_keys, advice.present, arguments, inspection, advice.log));
  }
  advice.all = advice.families.size() == 1 && advice.families.front().refusal.empty()
                   ? advice.families.front()
                   : AdviseAll(advice.families, inspection);
  advice.left_out = LeftOut(inspection, advice.log);
  advice.passes = PartOfPasses(advice.all.trees, inspection);
  return advice;
}

namespace {

// Of a database's directory, or of its info logs.
LoggedDatabase Read(const AdviseArguments& arguments) {
  const std::string& path = arguments.paths.front();
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    if (!arguments.lookups.keys.empty()) {
      throw InputError("--lookups takes a database: its info logs do not have the ranges of keys");
    }
    LoggedDatabase logged = ReadLogs(arguments.paths);
    Conclude({}, PresentShareOf(arguments, logged.log), logged.inspection);
    return logged;
  }
  if (arguments.paths.size() > 1) throw InputError("advise takes one directory, or info logs");
  InfoLog log = ReadInfoLog(path);
  const double present = PresentShareOf(arguments, log);
  return {Inspect({path}, arguments.lookups.keys, "", present), std::move(log), 1.0};
}

Advice Advise(const AdviseArguments& arguments) {
  const LoggedDatabase read = Read(arguments);
  Advice advice = AdviseOn(read.inspection, read.log, arguments);
  advice.known = read.known;
  const std::string name = advice.database.empty() ? "the log" : advice.database;
  if (advice.families.empty() && !arguments.column_family.empty()) {
    throw InputError(
        fmt::format("{} has no keys in tables of column family {}", name, arguments.column_family));
  }
  if (advice.families.empty() && advice.unreadable == 0) {
    throw InputError(read.inspection.tables.empty()
                         ? WhyNoTables(advice.database)
                         : fmt::format("{} has no keys in tables yet", name));
  }
  const bool has_answer = std::any_of(
      advice.families.begin(), advice.families.end(),
      [](const FamilyAdvice& family) { return family.refusal.empty() || !family.remedy.empty(); });
  if (!advice.families.empty() && !has_answer) throw InputError(advice.families.front().refusal);
  return advice;
}

}  // namespace

void RunAdvise(const AdviseArguments& arguments) {
  const Advice advice = Advise(arguments);
  if (arguments.json) {
    PrintJson(ToJson(advice));
  } else {
    fmt::print("{}", FormatAdvice(advice, arguments.details || !arguments.column_family.empty()));
  }
  if (!advice.left_out.empty()) {
    throw support::Findings(fmt::format("left out: {}", fmt::join(advice.left_out, "; ")));
  }
}

}  // namespace exactbloom::tool
