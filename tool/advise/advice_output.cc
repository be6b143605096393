#include <fmt/format.h>

#include <sstream>

#include "advise.h"
#include "plugin/policy_options.h"
#include "tool/database/database_options.h"
#include "tool/output.h"
#include "tool/support/text_table.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

std::string Reads(double reads) { return fmt::format("{:.6f}", reads); }

std::string Indented(const std::string& lines) {
  std::istringstream stream(lines);
  std::string text;
  for (std::string line; std::getline(stream, line);) text += "  " + line + "\n";
  return text;
}

std::string FormatPresent(const FamilyAdvice& family) {
  const FilterSums now = SumOf(family.tree.filters);
  const char* note = IsNameAlone(family.policy)
                         ? " (set through RocksDB's C interface, which does not write its bits per "
                           "key)"
                         : "";
  return fmt::format(
      "\nColumn family {}: {}{}\n"
      "{} keys in {}; the filters take {} bytes, and a lookup of an absent key wastes {} reads.\n",
      family.tree.column_family, family.policy, note, family.tree.Keys(),
      Counted(family.tree.Runs(), "sorted run"), now.bytes, Reads(now.wasted_reads));
}

std::string FormatCandidates(const FamilyAdvice& family) {
  support::TextTable table({"setting", "filter bytes", "wasted reads"});
  const FilterSums now = SumOf(family.tree.filters);
  table.AddRow({"  now", now.bytes, Reads(now.wasted_reads)});
  for (std::size_t i = 0; i < family.candidates.size(); ++i) {
    const Candidate& candidate = family.candidates[i];
    table.AddRow({(family.best == i ? "* " : "  ") + candidate.policy, candidate.filters.bytes,
                  Reads(candidate.filters.wasted_reads)});
  }
  return fmt::format("\nSettings with at most {} bytes of filters:\n\n{}", family.memory,
                     table.Format());
}

std::string FormatLevels(const FamilyAdvice& family, const Candidate& best) {
  support::TextTable table({"level", "tables", "keys", "asked", "filter bytes: now", "then",
                            "wasted reads: now", "then"});
  for (const auto& [level, groups] : family.tree.levels) {
    const TableGroup tables = SumOf(groups);
    const FilterSums& now = family.tree.filters.at(level);
    const FilterSums& then = best.levels.at(level);
    table.AddRow({level, tables.tables, tables.keys, fmt::format("{:.2f}", tables.asked), now.bytes,
                  then.bytes, Reads(now.wasted_reads), Reads(then.wasted_reads)});
  }
  return "\n" + table.Format();
}

std::string FormatChange(const FamilyAdvice& family) {
  if (!family.best) {
    return fmt::format("\nKeep the present setting: no other wastes fewer reads by {:g}%.\n",
                       100.0 * kWorthwhileGain);
  }
  const Candidate& best = family.candidates[*family.best];
  const double now = SumOf(family.tree.filters).wasted_reads;
  std::string text = fmt::format(
      "\nAdvice: {}\n"
      "It is the simplest setting within {:g}% of the best, and changes the wasted reads by "
      "{:+.1f}%. After a rebuild:\n{}",
      best.policy, 100.0 * kWorthwhileGain,
      now == 0.0 ? 0.0 : 100.0 * (best.filters.wasted_reads - now) / now,
      FormatLevels(family, best));
  if (HasRibbon(best.options)) {
    text += "\nRibbon filters take longer to build: compactions into large runs are slower.\n";
  }
  text += fmt::format(
      "\nIn the OPTIONS file:\n{}In C++:\n{}New tables get these filters. The present tables get "
      "them with\n  {}\n",
      Indented(family.options_lines), Indented(family.code_lines), family.rebuild_command);
  return text;
}

std::string FormatWarnings(const FamilyAdvice& family) {
  std::string text;
  for (const Warning& warning : family.warnings) {
    text += fmt::format("\nWarning: {}\n  {}.\n  To do: {}.\n", warning.name, warning.seen,
                        warning.remedy);
  }
  return text;
}

// `more`, and the sums of some filters.
json SumsJson(const FilterSums& filters, const json& more) {
  json sums = {{"filter_bytes", filters.bytes}, {"wasted_reads", filters.wasted_reads}};
  sums.update(more);
  return sums;
}

json AdviceJson(const FamilyAdvice& family) {
  if (!family.best) return nullptr;
  const Candidate& best = family.candidates[*family.best];
  json advice = SumsJson(best.filters, {{"policy", best.policy}});
  json levels = json::array();
  for (const auto& [level, filters] : best.levels) {
    levels.push_back(SumsJson(filters, {{"level", level}}));
  }
  advice.update({{"levels", levels},
                 {"options", family.options_lines},
                 {"code", family.code_lines},
                 {"rebuild", family.rebuild_command}});
  return advice;
}

json FamilyJson(const FamilyAdvice& family) {
  json levels = json::array();
  for (const auto& [level, groups] : family.tree.levels) {
    const TableGroup tables = SumOf(groups);
    levels.push_back(SumsJson(family.tree.filters.at(level), {{"level", level},
                                                              {"tables", tables.tables},
                                                              {"keys", tables.keys},
                                                              {"asked", tables.asked}}));
  }
  json candidates = json::array();
  for (const Candidate& candidate : family.candidates) {
    candidates.push_back(SumsJson(candidate.filters, {{"policy", candidate.policy}}));
  }
  return {{"column_family", family.tree.column_family},
          {"keys", family.tree.Keys()},
          {"sorted_runs", family.tree.Runs()},
          {"memory", family.memory},
          {"now", SumsJson(SumOf(family.tree.filters), {{"policy", family.policy}})},
          {"levels", levels},
          {"candidates", candidates},
          {"advice", AdviceJson(family)},
          {"warnings", family.warnings}};
}

}  // namespace

std::string FormatAdvice(const Advice& advice) {
  std::string text = advice.options_file.empty()
                         ? fmt::format("No OPTIONS file, so RocksDB's defaults are assumed: {}\n",
                                       advice.no_options_reason)
                         : fmt::format("Options: {}\n", advice.options_file);
  for (const FamilyAdvice& family : advice.families) {
    text += FormatPresent(family) + FormatCandidates(family) + FormatChange(family) +
            FormatWarnings(family);
  }
  return text;
}

json ToJson(const Advice& advice) {
  json families = json::array();
  for (const FamilyAdvice& family : advice.families) families.push_back(FamilyJson(family));
  return {{"database", advice.database},
          {"options_file", advice.options_file.empty() ? json(nullptr) : json(advice.options_file)},
          {"worthwhile_gain", kWorthwhileGain},
          {"column_families", families},
          {"unreadable_tables", advice.unreadable}};
}

}  // namespace exactbloom::tool
