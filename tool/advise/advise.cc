// exactbloom advise: the best filter setting for the same memory.
#include "advise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "exactbloom/tree_listener.h"
#include "plugin/policy_options.h"
#include "support/errors.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

using support::InputError;

std::string PolicyNow(const FamilyOptions* options) {
  if (options == nullptr) return "not known";
  return options->NamesFilterPolicy() ? options->filter_policy : "none";
}

// Of `policy` if all tables are rewritten with it now.
void PredictRewritten(const FamilyOptions* options, FamilyAdvice* advice) {
  const Tree& tree = advice->tree;
  if (options == nullptr) {
    advice->unpredictable = "no OPTIONS file has its setting";
  } else if (!options->NamesFilterPolicy()) {
    PolicyOptions none;
    none.bits_per_key = 0.0;
    advice->rewritten = PlanOf(none, tree);
    advice->rewritten->policy = advice->policy;
  } else if (IsNameAlone(options->filter_policy)) {
    advice->unpredictable = "RocksDB's C interface does not write its bits per key";
  } else if (options->reader == nullptr) {
    advice->unpredictable = "this program does not know the policy";
  } else if (const auto ours = options->Ours()) {
    const rocksdb::Status status = ValidatePolicyOptions(*ours);
    if (status.ok()) advice->rewritten = PlanOf(*ours, tree);
    if (!status.ok()) advice->unpredictable = Describe(status);
  } else {
    advice->rewritten = PlanOf(*options->reader, options->filter_policy, tree);
  }
}

// Whether the tables have other filters than the present setting gives: none that lookups use,
// those of another policy, or smaller ones. A tree that grew with the setting has from 96% of the
// bytes on that it has if all tables are rewritten now.
bool HasOtherFilters(const FamilyAdvice& advice, const FamilyOptions& options,
                     const Inspection& inspection) {
  constexpr double kSmaller = 0.9;
  const auto rewritten = static_cast<double>(advice.rewritten->filters.bytes);
  if (static_cast<double>(advice.tree.Now().bytes) < kSmaller * rewritten) return true;
  return std::any_of(
      inspection.tables.begin(), inspection.tables.end(), [&](const TableReport& table) {
        const bool counts =
            table.location.column_family == advice.tree.column_family && table.NeedsFilter();
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

// The share of the column family in --memory, by keys; otherwise the bytes of filters of the
// present setting, of the present filters where those are not known, or of the default size if
// there are none.
std::uint64_t MemoryOf(const FamilyAdvice& family, const std::vector<Tree>& trees,
                       const AdviseArguments& arguments) {
  const auto keys = static_cast<double>(family.tree.Keys());
  if (arguments.memory_bytes) {
    double all_keys = 0.0;
    for (const Tree& tree : trees) all_keys += static_cast<double>(tree.Keys());
    return static_cast<std::uint64_t>(static_cast<double>(*arguments.memory_bytes) * keys /
                                      all_keys);
  }
  if (family.rewritten && family.rewritten->filters.bytes != 0) {
    return family.rewritten->filters.bytes;
  }
  const std::uint64_t now = family.tree.Now().bytes;
  const double by_default = PolicyOptions().bits_per_key / 8.0 * keys;
  return now > 0 ? now : static_cast<std::uint64_t>(by_default);
}

// Advises the candidate, or to keep the present setting if the candidate is not worth the change.
void Decide(std::size_t candidate, FamilyAdvice* advice) {
  const FilterSums now = advice->tree.Now();
  const FilterSums present = advice->rewritten ? advice->rewritten->filters : now;
  const double least = kLeastGain * advice->candidates[candidate].filters.wasted_reads;
  advice->best.reset();
  if (present.bytes > advice->memory || present.wasted_reads > least) {
    advice->best = candidate;
  } else {
    advice->compacts =
        advice->has_other_filters && now.wasted_reads > kLeastGain * present.wasted_reads;
  }
}

FamilyAdvice AdviseFamily(const Tree& tree, const std::vector<Tree>& trees,
                          const AdviseArguments& arguments, const Inspection& inspection,
                          const InfoLog& log) {
  const FamilyOptions* options = inspection.OptionsOf(tree.column_family);
  FamilyAdvice advice;
  advice.tree = tree;
  advice.policy = PolicyNow(options);
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
  PredictRewritten(options, &advice);
  advice.has_other_filters = advice.rewritten && HasOtherFilters(advice, *options, inspection);
  advice.memory = MemoryOf(advice, trees, arguments);
  const PolicyOptions base =
      options == nullptr ? PolicyOptions() : options->Ours().value_or(PolicyOptions());
  advice.candidates = FindCandidates(tree, base, advice.memory);
  if (advice.candidates.empty()) {
    advice.refusal = WhyNoCandidates(tree, base, advice.memory);
  } else {
    Decide(Choose(advice.candidates), &advice);
  }
  return advice;
}

// Gives these column families, whose settings are of one kind and close to each other, the one with
// the most bits per key that takes no more memory than all have together.
//   members   by their bits per key
void Unite(const std::vector<FamilyAdvice*>& members) {
  std::uint64_t memory = 0;
  for (const FamilyAdvice* member : members) memory += member->memory;
  for (auto like = members.rbegin(); like != members.rend(); ++like) {
    const TreePlan setting = *(*like)->Best();
    std::vector<TreePlan> plans;
    std::uint64_t bytes = 0;
    for (const FamilyAdvice* member : members) {
      plans.push_back(PlanOf(setting.options, member->tree, setting.ribbonfilter));
      bytes += plans.back().filters.bytes;
    }
    if (bytes > memory && std::next(like) != members.rend()) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t best = *members[i]->best;
      members[i]->candidates[best] = std::move(plans[i]);
      Decide(best, members[i]);
    }
    return;
  }
}

void UniteSettings(std::vector<FamilyAdvice>* families) {
  std::map<std::pair<bool, std::string>, std::vector<FamilyAdvice*>> kinds;
  for (FamilyAdvice& family : *families) {
    if (!family.best) continue;
    PolicyOptions kind = family.Best()->options;
    kind.bits_per_key = PolicyOptions().bits_per_key;
    kinds[{family.Best()->ribbonfilter, FormatPolicy(kind)}].push_back(&family);
  }
  const auto bits_of = [](const FamilyAdvice* family) {
    const TreePlan& best = *family->Best();
    // The option of ribbonfilter is that of a Bloom filter of the same rate.
    return best.ribbonfilter ? 8.0 * static_cast<double>(best.filters.bytes) /
                                   static_cast<double>(family->tree.Keys())
                             : best.options.bits_per_key;
  };
  constexpr double kRounding = 1e-6;
  for (auto& [kind, members] : kinds) {
    std::stable_sort(members.begin(), members.end(), [&](const auto* one, const auto* other) {
      return bits_of(one) < bits_of(other);
    });
    for (auto begin = members.begin(); begin != members.end();) {
      const double most = bits_of(*begin) + kSameSettingBits - kRounding;
      const auto end = std::find_if(begin, members.end(),
                                    [&](const auto* member) { return bits_of(member) >= most; });
      Unite({begin, end});
      begin = end;
    }
  }
}

void SetLines(const Inspection& inspection, FamilyAdvice* advice) {
  const TreePlan& best = *advice->Best();
  const bool has_listener = inspection.options && HasTreeListener(inspection.options->database);
  if (FollowsTree(best.options) && !has_listener) {
    std::vector<std::string> listeners{kTreeListenerName};
    if (inspection.options) {
      const auto& others = inspection.options->listeners;
      listeners.insert(listeners.begin(), others.begin(), others.end());
    }
    advice->listener_lines =
        fmt::format("[DBOptions]\n{}  listeners={}\n",
                    listeners.size() == 1
                        ? ""
                        : "  # RocksDB ignores listeners that the program did not register.\n",
                    fmt::join(listeners, ":"));
  }
  advice->options_lines = fmt::format("[TableOptions/BlockBasedTable \"{}\"]\n  filter_policy={}\n",
                                      advice->tree.column_family, best.policy);
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

// Of all column families, since those that are alike get one setting.
std::vector<FamilyAdvice> AdviseFamilies(const AdviseArguments& arguments,
                                         const Inspection& inspection, const InfoLog& log) {
  std::vector<FamilyAdvice> families;
  const std::vector<Tree> trees = TreesOf(inspection);
  for (const Tree& tree : trees) {
    families.push_back(AdviseFamily(tree, trees, arguments, inspection, log));
  }
  UniteSettings(&families);
  for (FamilyAdvice& family : families) {
    if (family.best) SetLines(inspection, &family);
  }
  return families;
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

Advice AdviseOn(const Inspection& inspection, const AdviseArguments& arguments) {
  Advice advice;
  advice.database = inspection.database;
  advice.no_options_reason = inspection.no_options_reason;
  if (inspection.options) advice.options_file = inspection.options->file;
  advice.unreadable = inspection.totals.unreadable;
  advice.log = ReadInfoLog(advice.database);
  advice.families = AdviseFamilies(arguments, inspection, advice.log);
  advice.left_out = LeftOut(inspection, advice.log);
  return advice;
}

namespace {

Advice Advise(const AdviseArguments& arguments) {
  const Inspection inspection = Inspect({arguments.path}, arguments.lookups.keys);
  if (inspection.database.empty()) {
    throw InputError(fmt::format("{} is a file: advise takes a database", arguments.path));
  }
  Advice advice = AdviseOn(inspection, arguments);
  if (advice.families.empty() && advice.unreadable == 0) {
    throw InputError(inspection.tables.empty()
                         ? WhyNoTables(advice.database)
                         : fmt::format("{} has no keys in tables yet", advice.database));
  }
  if (const std::string& name = arguments.column_family; !name.empty()) {
    advice.families.erase(std::remove_if(advice.families.begin(), advice.families.end(),
                                         [&](const FamilyAdvice& family) {
                                           return family.tree.column_family != name;
                                         }),
                          advice.families.end());
    if (advice.families.empty()) {
      throw InputError(
          fmt::format("{} has no keys in tables of column family {}", advice.database, name));
    }
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
    fmt::print("{}", FormatAdvice(advice));
  }
  if (!advice.left_out.empty()) {
    throw support::Findings(fmt::format("left out: {}", fmt::join(advice.left_out, "; ")));
  }
}

}  // namespace exactbloom::tool
