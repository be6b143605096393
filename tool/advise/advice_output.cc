#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "advise.h"
#include "plugin/policy_options.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tool/database/database_options.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;
using support::Style;

std::string Indented(const std::string& lines) {
  std::istringstream stream(lines);
  std::string text;
  for (std::string line; std::getline(stream, line);) text += "  " + line + "\n";
  return text;
}

std::string FormatPresent(const FamilyAdvice& family) {
  const FilterSums now = family.tree.Now();
  const char* note = IsNameAlone(family.policy)
                         ? " (set through RocksDB's C interface, which does not write its bits per "
                           "key)"
                         : "";
  return fmt::format(
      "\n{}{} in {}; the filters take {}.\n"
      "Wasted reads per 1,000 lookups of absent keys: {}.\n",
      Wrapped(fmt::format("Column family {}: {}{}", Escaped(family.tree.column_family),
                          family.policy, note)),
      Counted(family.tree.Keys(), "key"), Counted(family.tree.Runs(), "sorted run"),
      FormatBytes(now.bytes), WastedPerThousand(now.wasted_reads));
}

std::string FormatCandidates(const FamilyAdvice& family) {
  // Settings are to be copied, so they are not cut for the sake of the last column.
  constexpr std::size_t kWide = 100;
  const int build_rank = support::Columns() < kWide ? support::TextTable::kNever : 2;
  support::TextTable table({"setting", "filter size", "wasted per 1,000", "memory to build"},
                           {0, 1, 0, build_rank});
  const auto add = [&table](const std::string& setting, const FilterSums& filters) {
    table.AddRow({setting, FormatBytes(filters.bytes), PerThousand(filters.wasted_reads),
                  FormatBytes(filters.build_bytes)});
  };
  add("  as it is now", family.tree.Now());
  if (family.rewritten) add("  the present setting, rewritten", family.rewritten->filters);
  for (std::size_t i = 0; i < family.candidates.size(); ++i) {
    const TreePlan& candidate = family.candidates[i];
    add((family.best == i ? "* " : "  ") + candidate.policy, candidate.filters);
  }
  std::string text = fmt::format(
      "\nWhat settings give if all tables are rewritten now, in at most {} and\n"
      "{:g} bits per key:\n\n{}",
      FormatBytes(family.memory), kMostAdvisedBits, table.Format(support::Columns()));
  if (!family.rewritten) {
    text += "\n" + Wrapped(fmt::format(
                       "Not known is what the present setting gives to rewritten tables: {}. It is "
                       "compared as it is now.",
                       family.unpredictable));
  }
  return text;
}

// "3.2 times fewer reads": of the advice, compared with now.
std::string TimesFewer(double now, double then) {
  return then <= now ? Rounded(now / then) + " times fewer reads"
                     : Rounded(then / now) + " times more reads";
}

// The gain over the present setting, rewritten, and over the tables as they are if that differs.
std::string FormatGain(const FamilyAdvice& family) {
  constexpr double kSame = 0.05;
  const double now = family.tree.Now().wasted_reads;
  const double then = family.Then().wasted_reads;
  std::string gain = TimesFewer(now, then) + " than now";
  const double present = family.rewritten ? family.rewritten->filters.wasted_reads : now;
  if (std::abs(present - now) <= kSame * now) return gain;
  return fmt::format("{} than the present setting, rewritten ({})", TimesFewer(present, then),
                     gain);
}

std::string FormatChange(const FamilyAdvice& family) {
  if (family.compacts) {
    return fmt::format("\n{} keep {}, and compact\nRewritten, the tables waste {} than now.\n",
                       support::Styled("Advice:", Style::kGood), family.policy,
                       TimesFewer(family.tree.Now().wasted_reads, family.Then().wasted_reads));
  }
  const TreePlan* best = family.Best();
  if (best == nullptr) {
    return fmt::format("\nKeep the present setting: no other wastes {:g} times fewer reads.\n",
                       kLeastGain);
  }
  return fmt::format(
      "\n{} {}\n{}\nIf all tables were written now:\n\n{}",
      support::Styled("Advice:", Style::kGood), best->policy,
      Wrapped(fmt::format("It wastes {}, and is the simplest setting within {:g}% of the best{}.",
                          FormatGain(family),
                          100.0 * (best->ribbonfilter ? kLibraryGain : kWorthwhileGain),
                          best->ribbonfilter ? ": RocksDB's own, which needs no library" : "")),
      FormatPlan(*best));
}

std::string FormatRefusal(const FamilyAdvice& family) {
  return "\n" +
         Wrapped(fmt::format("No advice for {}: {}.", family.tree.column_family, family.refusal)) +
         (family.remedy.empty() ? "" : Wrapped(fmt::format("To do: {}.", family.remedy)));
}

}  // namespace

std::string ShortAdvice(const FamilyAdvice& family) {
  if (family.best) return family.Best()->policy;
  if (family.compacts) return "keep it, compact";
  return family.refusal.empty() ? "keep it" : "none: see below";
}

std::vector<EqualFamilies> GroupsOf(const std::vector<FamilyAdvice>& families) {
  std::vector<EqualFamilies> groups;
  for (const FamilyAdvice& family : families) {
    const auto is_alike = [&](const EqualFamilies& group) {
      const FamilyAdvice& first = *group.front();
      return first.policy == family.policy && ShortAdvice(first) == ShortAdvice(family) &&
             AreAlike(first.tree.Now().wasted_reads, family.tree.Now().wasted_reads) &&
             AreAlike(first.Then().wasted_reads, family.Then().wasted_reads);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), is_alike);
    if (group == groups.end()) {
      groups.push_back({&family});
    } else {
      group->push_back(&family);
    }
  }
  return groups;
}

namespace {

// Keys, sorted runs and bytes are sums, wasted reads means.
support::Cells CellsOf(const EqualFamilies& group) {
  std::vector<std::string> names;
  std::uint64_t keys = 0;
  std::uint64_t runs = 0;
  std::uint64_t bytes = 0;
  double now = 0.0;
  double rewritten = 0.0;
  double then = 0.0;
  bool is_known = true;
  for (const FamilyAdvice* member : group) {
    names.push_back(member->tree.column_family);
    keys += member->tree.Keys();
    runs += member->tree.Runs();
    bytes += member->tree.Now().bytes;
    now += member->tree.Now().wasted_reads;
    is_known = is_known && member->rewritten;
    if (is_known) rewritten += member->rewritten->filters.wasted_reads;
    then += member->Then().wasted_reads;
  }
  const auto mean = [&](double sum) {
    return PerThousand(sum / static_cast<double>(group.size()));
  };
  return {FirstOf(names),
          keys,
          runs,
          FormatBytes(bytes),
          mean(now),
          is_known ? mean(rewritten) : "-",
          mean(then),
          group.front()->policy,
          ShortAdvice(*group.front())};
}

std::string FormatFamilies(const std::vector<FamilyAdvice>& families) {
  support::TextTable table({"column family", "keys", "sorted runs", "filter size", "wasted now",
                            "rewritten", "then", "setting now", "advice"},
                           {0, 3, 6, 5, 1, 4, 0, 2, 0});
  std::string refusals;
  for (const EqualFamilies& group : GroupsOf(families)) {
    table.AddRow(CellsOf(group));
    for (const FamilyAdvice* member : group) {
      if (!member->refusal.empty()) refusals += FormatRefusal(*member);
    }
  }
  return fmt::format("\nWasted reads per 1,000 lookups of absent keys:\n\n{}\n{}{}",
                     table.Format(support::Columns()),
                     Wrapped("advise --column-family NAME shows what other settings would give."),
                     refusals);
}

// The names as comments in C++.
std::string Commented(const std::vector<std::string>& names) {
  constexpr std::size_t kMargin = 5;  // of "// ", which is indented by two
  std::istringstream lines(Wrapped(fmt::format("{}", fmt::join(names, ", ")), kMargin));
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "// " + line.substr(kMargin) + "\n";
  return text;
}

// The ways to set what is advised to column families, of RocksDB's policy or of ours, each line
// once.
class Ways {
 public:
  Ways(const std::vector<FamilyAdvice>& families, bool ribbonfilter)
      : of_rocksdb_(ribbonfilter), families_(families.size()) {
    for (const FamilyAdvice& family : families) {
      if (!family.best || family.Best()->ribbonfilter != ribbonfilter) continue;
      code_[family.code_line].push_back(family.tree.column_family);
      policies_.insert(family.Best()->policy);
      if (options_.empty()) options_ = family.listener_lines;
      options_ += family.options_lines;
    }
  }

  void AddTo(std::vector<AdviceStep>* steps) const {
    if (code_.empty()) return;
    const std::string title = of_rocksdb_ ? "In C++, for RocksDB's own filters" : "In C++";
    steps->push_back({title, title + ":", Code()});
    if (!of_rocksdb_) steps->push_back(Preloading());
    const char* condition =
        of_rocksdb_
            ? "if the program loads this file"
            : "only if the program loads this file, and is preloaded with ExactBloom or "
              "calls RegisterFilterPolicies(): in any other program new tables get no filter";
    steps->push_back({"In the OPTIONS file",
                      fmt::format("Or in the OPTIONS file, {}. Replace the lines of these names, "
                                  "since RocksDB keeps the first of two:",
                                  condition),
                      options_});
  }

 private:
  std::string Code() const {
    std::string text;
    for (const auto& [line, names] : code_) {
      const bool is_for_all = names.size() == families_;
      if (families_ > 1 && is_for_all) text += "// each column family\n";
      if (!is_for_all) text += Commented(names);
      text += line + "\n";
    }
    return text;
  }

  AdviceStep Preloading() const {
    if (policies_.size() != 1) {
      return {"By preloading",
              "Preloading gives one setting to all column families, so it cannot set these.", ""};
    }
    return {"By preloading",
            "Or by preloading, for all column families of a program that has a shared "
            "librocksdb.so:",
            fmt::format("EXACTBLOOM_POLICY={} \\\nLD_PRELOAD={} \\\nPROGRAM\n",
                        ForShell(*policies_.begin()), EXACTBLOOM_PRELOADED_OBJECT)};
  }

  const bool of_rocksdb_;
  const std::size_t families_;                            // those that keep their setting, too
  std::map<std::string, std::vector<std::string>> code_;  // column families by their line
  std::set<std::string> policies_;
  std::string options_;
};

// Reads of tables that filters let pass in vain, if all column families are asked alike. Where
// tables have no filter, reads are wasted that the counters leave out.
double SavedTableReads(const Advice& advice) {
  double now = 0.0;
  double then = 0.0;
  for (const FamilyAdvice& family : advice.families) {
    now += family.tree.Now().wasted_reads;
    then += family.Then().wasted_reads;
  }
  if (advice.log.seconds == 0.0 || now == 0.0) return 0.0;
  return static_cast<double>(advice.log.passed_in_vain) / advice.log.seconds * (1.0 - then / now);
}

// The part of the data blocks asked for that the block cache does not have. Nothing if the LOG does
// not count them.
std::optional<double> MissedBlocks(const InfoLog& log) {
  const std::uint64_t asked = log.data_block_hits + log.data_block_misses;
  if (log.seconds == 0.0 || asked == 0) return std::nullopt;
  return static_cast<double>(log.data_block_misses) / static_cast<double>(asked);
}

// One warning of several families once.
std::string FormatWarnings(const std::vector<FamilyAdvice>& families) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> texts;
  for (const FamilyAdvice& family : families) {
    for (const Warning& warning : family.warnings) {
      texts[{warning.name, Wrapped(warning.seen + ".", 2) +
                               Wrapped(fmt::format("To do: {}.", warning.remedy), 2)}]
          .push_back(Escaped(family.tree.column_family));
    }
  }
  std::string text;
  for (const auto& [warning, names] : texts) {
    const std::string of_families =
        families.size() == 1 ? "" : fmt::format(" ({})", fmt::join(names, ", "));
    text +=
        "\n" + Wrapped(fmt::format("Warning: {}{}", warning.first, of_families)) + warning.second;
  }
  return text;
}

// What the advice is worth, by the lookups that the database counted.
std::string FormatWorth(const Advice& advice) {
  const InfoLog& log = advice.log;
  if (log.seconds == 0.0 || log.lookups == 0) return "";
  std::string text =
      "\n" + Wrapped(fmt::format("The LOG counts {} in {:.0f} seconds; filters let {} pass in "
                                 "vain, {} per second.",
                                 Counted(log.lookups, "lookup"), log.seconds,
                                 Counted(log.passed_in_vain, "table"),
                                 Rounded(static_cast<double>(log.passed_in_vain) / log.seconds)));
  const double saved = SavedTableReads(advice);
  if (saved <= 0.0) return text;
  if (const auto missed = MissedBlocks(log)) {
    return text + Wrapped(fmt::format("The block cache lacked {} of the data blocks, so the advice "
                                      "saves about {} reads of files per second.",
                                      FormatRate(*missed), Rounded(saved * *missed)));
  }
  return text + Wrapped(fmt::format("The advice saves at least {} reads of tables per second, "
                                    "which the block cache may answer: the LOG does not count its "
                                    "misses.",
                                    Rounded(saved)));
}

json SumsJson(const std::string& policy, const FilterSums& filters) {
  return {{"policy", policy},
          {"filter_bytes", filters.bytes},
          {"wasted_reads", filters.wasted_reads},
          {"build_bytes", filters.build_bytes}};
}

json FamilyJson(const FamilyAdvice& family) {
  json candidates = json::array();
  for (const TreePlan& candidate : family.candidates) {
    candidates.push_back(SumsJson(candidate.policy, candidate.filters));
  }
  json advice;
  if (const TreePlan* best = family.Best()) {
    advice = ToJson(*best);
    advice.update({{"options", family.listener_lines + family.options_lines},
                   {"code", family.code_line + "\n"},
                   {"needs_library", !best->ribbonfilter}});
  }
  return {
      {"column_family", family.tree.column_family},
      {"keys", family.tree.Keys()},
      {"sorted_runs", family.tree.Runs()},
      {"memory", family.memory},
      {"now", SumsJson(family.policy, family.tree.Now())},
      {"rewritten", family.rewritten ? SumsJson(family.policy, family.rewritten->filters) : json()},
      {"compact", family.compacts},
      {"refusal", family.refusal.empty() ? json() : json(family.refusal)},
      {"candidates", candidates},
      {"advice", advice},
      {"warnings", family.warnings}};
}

}  // namespace

std::vector<AdviceStep> StepsOf(const std::vector<FamilyAdvice>& families) {
  bool changes = false;
  bool compacts = false;
  bool has_ribbon = false;
  bool leaves_library = false;
  for (const FamilyAdvice& family : families) {
    compacts = compacts || family.compacts;
    const TreePlan* best = family.Best();
    if (best == nullptr) continue;
    changes = true;
    has_ribbon = has_ribbon || best->ribbonfilter;
    leaves_library = leaves_library || (best->ribbonfilter && family.has_our_filters);
  }
  std::vector<AdviceStep> steps;
  if (!changes && !compacts) return steps;
  if (has_ribbon) {
    steps.push_back(
        {"", "RocksDB's Ribbon filters take longer to build: flushes and compactions are slower.",
         ""});
  }
  Ways(families, /*ribbonfilter=*/true).AddTo(&steps);
  Ways(families, /*ribbonfilter=*/false).AddTo(&steps);
  steps.push_back(
      {"Existing tables",
       std::string(changes ? "New tables get these filters; existing tables keep their old filters "
                             "until they are rewritten. "
                           : "") +
           "To rewrite all, in the program (docs/operations.md, Replacing filters):",
       "rocksdb::CompactRangeOptions all;\n"
       "all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;\n"
       "rocksdb::Status status = db->CompactRange(all, family, nullptr, nullptr);\n"});
  if (leaves_library) {
    steps.push_back({"",
                     "Until then the program needs the library: without it the present filters of "
                     "ExactBloom let every key pass.",
                     ""});
  }
  return steps;
}

std::string FormatAdvice(const Advice& advice) {
  std::string text =
      advice.options_file.empty()
          ? Wrapped(fmt::format("No OPTIONS file, so RocksDB's defaults are assumed: {}",
                                advice.no_options_reason))
          : fmt::format("Options: {}\n", ForShell(advice.options_file));
  if (advice.families.size() == 1) {
    const FamilyAdvice& family = advice.families.front();
    text += FormatPresent(family);
    text += family.refusal.empty() ? FormatCandidates(family) + FormatChange(family)
                                   : FormatRefusal(family);
  } else {
    text += FormatFamilies(advice.families);
  }
  for (const AdviceStep& step : StepsOf(advice.families)) {
    text += "\n" + Wrapped(step.text) + Indented(step.lines);
  }
  text += FormatWarnings(advice.families);
  return text + FormatWorth(advice);
}

json ToJson(const Advice& advice) {
  json families = json::array();
  for (const FamilyAdvice& family : advice.families) families.push_back(FamilyJson(family));
  const std::optional<double> missed = MissedBlocks(advice.log);
  return {{"database", advice.database},
          {"options_file", advice.options_file.empty() ? json(nullptr) : json(advice.options_file)},
          {"worthwhile_gain", kWorthwhileGain},
          {"least_gain", kLeastGain},
          {"column_families", families},
          {"unreadable_tables", advice.unreadable},
          {"counted",
           {{"seconds", advice.log.seconds},
            {"lookups", advice.log.lookups},
            {"passed_in_vain", advice.log.passed_in_vain},
            {"saved_table_reads_per_second", SavedTableReads(advice)},
            {"data_blocks_missed", missed ? json(*missed) : json()}}}};
}

}  // namespace exactbloom::tool
