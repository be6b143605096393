#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <sstream>

#include "advise.h"
#include "plugin/policy_options.h"
#include "tool/database/database_options.h"
#include "tool/output.h"
#include "tool/support/text_table.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

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
      "\nColumn family {}: {}{}\n"
      "{} keys in {}; the filters take {} bytes, and a lookup of an absent key wastes {} reads "
      "per 1,000.\n",
      family.tree.column_family, family.policy, note, family.tree.Keys(),
      Counted(family.tree.Runs(), "sorted run"), now.bytes, Rounded(1000.0 * now.wasted_reads));
}

std::string FormatCandidates(const FamilyAdvice& family) {
  support::TextTable table({"setting", "filter bytes", "wasted per 1,000", "bytes to build"});
  const FilterSums now = family.tree.Now();
  table.AddRow({"  now", now.bytes, PerThousand(now.wasted_reads), now.build_bytes});
  for (std::size_t i = 0; i < family.candidates.size(); ++i) {
    const TreePlan& candidate = family.candidates[i];
    table.AddRow({(family.best == i ? "* " : "  ") + candidate.policy, candidate.filters.bytes,
                  PerThousand(candidate.filters.wasted_reads), candidate.filters.build_bytes});
  }
  return fmt::format("\nSettings with at most {} bytes of filters and {:g} bits per key:\n\n{}",
                     family.memory, kMostAdvisedBits, table.Format());
}

// "3.2 times fewer reads": of the advice, compared with now.
std::string TimesFewer(double now, double then) {
  return then <= now ? Rounded(now / then) + " times fewer reads"
                     : Rounded(then / now) + " times more reads";
}

std::string FormatChange(const FamilyAdvice& family) {
  if (!family.best) {
    return fmt::format("\nKeep the present setting: no other wastes fewer reads by {:g}%.\n",
                       100.0 * kWorthwhileGain);
  }
  const TreePlan& best = family.candidates[*family.best];
  return fmt::format(
      "\nAdvice: {}\n"
      "It wastes {} than now, and is the simplest setting within {:g}% of the best{}. If all "
      "tables were written now:\n\n{}",
      best.policy, TimesFewer(family.tree.Now().wasted_reads, best.filters.wasted_reads),
      100.0 * (best.ribbonfilter ? kLibraryGain : kWorthwhileGain),
      best.ribbonfilter ? ": RocksDB's own, which needs no library" : "", FormatPlan(best));
}

std::string FormatFamilies(const std::vector<FamilyAdvice>& families) {
  support::TextTable table({"column family", "keys", "sorted runs", "filter bytes",
                            "wasted per 1,000: now", "then", "setting now", "advice"});
  for (const FamilyAdvice& family : families) {
    const FilterSums now = family.tree.Now();
    const TreePlan* best = family.best ? &family.candidates[*family.best] : nullptr;
    table.AddRow({family.tree.column_family, family.tree.Keys(), family.tree.Runs(), now.bytes,
                  PerThousand(now.wasted_reads),
                  PerThousand(best == nullptr ? now.wasted_reads : best->filters.wasted_reads),
                  family.policy, best == nullptr ? "keep it" : best->policy});
  }
  return fmt::format("\n{}\nadvise --column-family NAME shows what other settings would give.\n",
                     table.Format());
}

// Of all families together, each line once, with the families whose options it is for.
std::string FormatLines(const std::vector<FamilyAdvice>& families) {
  std::string listeners;
  std::string options;
  std::map<std::string, std::vector<std::string>> code;
  bool has_ribbon = false;
  bool leaves_library = false;
  for (const FamilyAdvice& family : families) {
    if (!family.best) continue;
    const TreePlan& best = family.candidates[*family.best];
    if (listeners.empty()) listeners = family.listener_lines;
    options += family.options_lines;
    code[family.code_line].push_back(family.tree.column_family);
    has_ribbon = has_ribbon || best.ribbonfilter || HasRibbon(best.options);
    leaves_library = leaves_library || best.ribbonfilter;
  }
  if (options.empty()) return "";
  std::string text;
  if (has_ribbon) {
    text += "\nRibbon filters take longer to build: compactions into large runs are slower.\n";
  }
  text += fmt::format(
      "\nIn the OPTIONS file, replace the lines of these names, since RocksDB keeps the first of "
      "two:\n{}In C++:\n",
      Indented(listeners + options));
  for (const auto& [line, names] : code) {
    if (families.size() != 1) text += fmt::format("  // {}\n", fmt::join(names, ", "));
    text += fmt::format("  {}\n", line);
  }
  text +=
      "New tables get these filters. The present tables get them when their column family is "
      "compacted (docs/operations.md, Replacing filters).\n";
  if (leaves_library) {
    text += "Until then any filters of ExactBloom let every key pass without the library.\n";
  }
  return text;
}

// Of reads that filters let pass in vain, if all column families are asked alike. Where tables have
// no filter, reads are wasted that the counters leave out.
double SavedPerSecond(const Advice& advice) {
  double now = 0.0;
  double then = 0.0;
  for (const FamilyAdvice& family : advice.families) {
    const double wasted = family.tree.Now().wasted_reads;
    now += wasted;
    then += family.best ? family.candidates[*family.best].filters.wasted_reads : wasted;
  }
  if (advice.log.seconds == 0.0 || now == 0.0) return 0.0;
  return static_cast<double>(advice.log.passed_in_vain) / advice.log.seconds * (1.0 - then / now);
}

// One warning of several families once.
std::string FormatWarnings(const std::vector<FamilyAdvice>& families) {
  std::map<std::string, std::vector<std::string>> texts;
  for (const FamilyAdvice& family : families) {
    for (const Warning& warning : family.warnings) {
      texts[fmt::format("  {}.\n  To do: {}.\n", warning.seen, warning.remedy)].push_back(
          families.size() == 1 ? warning.name
                               : fmt::format("{} ({})", warning.name, family.tree.column_family));
    }
  }
  std::string text;
  for (const auto& [seen, names] : texts) {
    text += fmt::format("\nWarning: {}\n{}", fmt::join(names, ", "), seen);
  }
  return text;
}

// What the advice is worth, by the lookups that the database counted.
std::string FormatWorth(const Advice& advice) {
  const InfoLog& log = advice.log;
  if (log.seconds == 0.0 || log.lookups == 0) return "";
  std::string text = fmt::format(
      "\nThe LOG counts {} lookups in {:.0f} seconds; filters let {} tables pass in vain, {} per "
      "second.\n",
      log.lookups, log.seconds, log.passed_in_vain,
      Rounded(static_cast<double>(log.passed_in_vain) / log.seconds));
  if (const double saved = SavedPerSecond(advice); saved > 0.0) {
    text += fmt::format("The advice saves at least {} reads per second.\n", Rounded(saved));
  }
  return text;
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
  if (family.best) {
    advice = ToJson(family.candidates[*family.best]);
    advice.update({{"options", family.listener_lines + family.options_lines},
                   {"code", family.code_line + "\n"}});
  }
  return {{"column_family", family.tree.column_family},
          {"keys", family.tree.Keys()},
          {"sorted_runs", family.tree.Runs()},
          {"memory", family.memory},
          {"now", SumsJson(family.policy, family.tree.Now())},
          {"candidates", candidates},
          {"advice", advice},
          {"warnings", family.warnings}};
}

}  // namespace

std::string FormatAdvice(const Advice& advice) {
  std::string text = advice.options_file.empty()
                         ? fmt::format("No OPTIONS file, so RocksDB's defaults are assumed: {}\n",
                                       advice.no_options_reason)
                         : fmt::format("Options: {}\n", ForShell(advice.options_file));
  if (advice.families.size() == 1) {
    const FamilyAdvice& family = advice.families.front();
    text += FormatPresent(family) + FormatCandidates(family) + FormatChange(family);
  } else {
    text += FormatFamilies(advice.families);
  }
  text += FormatLines(advice.families) + FormatWarnings(advice.families);
  return text + FormatWorth(advice);
}

json ToJson(const Advice& advice) {
  json families = json::array();
  for (const FamilyAdvice& family : advice.families) families.push_back(FamilyJson(family));
  return {{"database", advice.database},
          {"options_file", advice.options_file.empty() ? json(nullptr) : json(advice.options_file)},
          {"worthwhile_gain", kWorthwhileGain},
          {"column_families", families},
          {"unreadable_tables", advice.unreadable},
          {"counted",
           {{"seconds", advice.log.seconds},
            {"lookups", advice.log.lookups},
            {"passed_in_vain", advice.log.passed_in_vain},
            {"saved_per_second", SavedPerSecond(advice)}}}};
}

}  // namespace exactbloom::tool
