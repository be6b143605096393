#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "advice.h"
#include "support/text_table.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

std::string Reads(double reads) { return fmt::format("{:.6f}", reads); }

std::string Microseconds(double nanoseconds) { return fmt::format("{:.3f}", nanoseconds / 1000.0); }

std::string Share(double after, double before) {
  if (before == 0.0) return "";
  return fmt::format(" ({:+.1f}%)", 100.0 * (after - before) / before);
}

std::string Indented(const std::string& lines, const std::string& indent) {
  std::istringstream stream(lines);
  std::string text;
  for (std::string line; std::getline(stream, line);) text += indent + line + "\n";
  return text;
}

std::string Filters(const LevelShape& level) {
  std::string text;
  for (const CheckCost& cost : kCheckCosts) {
    const auto filter = level.filters.find(cost.filter);
    if (filter == level.filters.end()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", cost.name);
  }
  return text;
}

std::string FormatTree(const FamilyAdvice& family) {
  const TreeShape& tree = family.tree;
  support::TextTable table({"level", "sorted runs", "tables", "keys", "filters", "bits/key",
                            "filter bytes", "wasted reads"});
  for (const LevelShape& level : tree.levels) {
    const double bits = 8.0 * static_cast<double>(level.filter_bytes) /
                        static_cast<double>(std::max<std::uint64_t>(1, level.keys));
    table.AddRow({fmt::format("{}", level.level), fmt::format("{}", level.runs),
                  fmt::format("{}", level.tables), fmt::format("{}", level.keys), Filters(level),
                  fmt::format("{:.3f}", bits), fmt::format("{}", level.filter_bytes),
                  Reads(level.wasted_reads)});
  }
  const Candidate& now = family.candidates.front();
  return fmt::format(
      "Column family {}, now {}\n\n{}\nThe filters take {} bytes. A lookup of an absent key wastes "
      "{} reads, of {} without filters,\nand {:.0f} ns on checks of filters.\n",
      tree.column_family, now.policy, table.Format(), now.filters.bytes,
      Reads(now.filters.wasted_reads), tree.Runs(), now.filters.nanoseconds);
}

std::string FormatConstraint(const FamilyAdvice& family) {
  switch (family.constraint.goal) {
    case Goal::kMemory:
      return fmt::format("at most {:.0f} bytes, for the least time", family.constraint.value);
    case Goal::kRate:
      return fmt::format("a rate of at most {} in every table, for the fewest bytes",
                         FormatRate(family.constraint.value));
    case Goal::kWastedReads:
      return fmt::format("at most {:g} wasted reads a lookup, for the fewest bytes",
                         family.constraint.value);
  }
  return "";
}

std::string FormatCandidates(const FamilyAdvice& family, double read_nanoseconds) {
  support::TextTable table({"setting", "bytes", "wasted reads", "check ns", "us a lookup"});
  for (std::size_t i = 0; i < family.candidates.size(); ++i) {
    const Candidate& candidate = family.candidates[i];
    table.AddRow({std::string(i == family.best ? "* " : "  ") + (i == 0 ? "now" : candidate.policy),
                  fmt::format("{}", candidate.filters.bytes), Reads(candidate.filters.wasted_reads),
                  fmt::format("{:.0f}", candidate.filters.nanoseconds),
                  Microseconds(candidate.nanoseconds)});
  }
  return fmt::format("\nCompared: {}; a read takes {:g} us.\n\n{}", FormatConstraint(family),
                     read_nanoseconds / 1000.0, table.Format());
}

std::string FormatChange(const Advice& advice, const FamilyAdvice& family) {
  if (family.best == 0) {
    return fmt::format("\nLeave it: no setting is better by {:g}%.\n", 100.0 * kWorthwhileGain);
  }
  const PredictedFilters& now = family.candidates.front().filters;
  const PredictedFilters& best = family.candidates[family.best].filters;
  std::string text = fmt::format(
      "\nAdvice: the simplest setting within {:g}% of the best, marked *.\n"
      "  filter bytes  {} -> {}{}\n  wasted reads  {} -> {}{}\n",
      100.0 * kWorthwhileGain, now.bytes, best.bytes,
      Share(static_cast<double>(best.bytes), static_cast<double>(now.bytes)),
      Reads(now.wasted_reads), Reads(best.wasted_reads),
      Share(best.wasted_reads, now.wasted_reads));
  if (family.candidates[family.best].options.bottommost == BottommostFilter::kRibbon) {
    text += "Ribbon filters cost more time to build: compactions into the deepest level pay it.\n";
  }
  text += "\nIn the OPTIONS file:\n" + Indented(OptionsLines(family), "  ");
  text += "In C++:\n" + Indented(CodeLines(family), "  ");
  text += fmt::format("Then new tables get it; the present ones follow with\n  {}\n",
                      RebuildCommand(advice, family));
  if (family.left_by_rebuild != 0) {
    text += fmt::format(
        "which leaves {} of {} tables: their filter is of this kind already, whatever its bits. "
        "They follow\nwhen compaction rewrites them (CompactRange with kForce rewrites all).\n",
        family.left_by_rebuild, family.tables);
  }
  return text;
}

std::string FormatTraps(const FamilyAdvice& family) {
  if (family.traps.empty()) return "\nNo trap was found.\n";
  std::string text = "\nTraps:\n";
  for (const Trap& trap : family.traps) {
    text += fmt::format("! {}\n  {}.\n  To do: {}.\n", trap.name, trap.seen, trap.remedy);
  }
  return text;
}

std::string FormatCounters(const Advice& advice) {
  if (!advice.counters) return fmt::format("Counters: {}.\n", advice.counters_source);
  const FilterCounters& counters = *advice.counters;
  std::string text = fmt::format(
      "Counters of {}: {} lookups; {} checks of filters for absent keys, {} passed",
      advice.counters_source, counters.lookups, counters.AbsentChecks(), counters.FalsePositives());
  if (counters.AbsentChecks() != 0) {
    text += fmt::format(" ({})", FormatRate(static_cast<double>(counters.FalsePositives()) /
                                            static_cast<double>(counters.AbsentChecks())));
  }
  const std::uint64_t asked = counters.cache_hits + counters.cache_misses;
  if (asked != 0) {
    text +=
        fmt::format("; {} of {} filters were not in the block cache", counters.cache_misses, asked);
  }
  return text + ".\n";
}

}  // namespace

std::string FormatAdvice(const Advice& advice) {
  std::string text = advice.options_file.empty()
                         ? fmt::format("No OPTIONS file, so RocksDB's defaults are assumed: {}\n",
                                       advice.no_options_reason)
                         : fmt::format("Options: {}\n", advice.options_file);
  text += FormatCounters(advice);
  for (const FamilyAdvice& family : advice.families) {
    text += "\n" + FormatTree(family) + FormatCandidates(family, advice.question.read_nanoseconds) +
            FormatChange(advice, family) + FormatTraps(family);
  }
  text += fmt::format(
      "\nNanoseconds of a check, measured (docs/performance.md), filters up to {} MiB / larger:\n ",
      kCachedFilterBytes >> 20);
  for (const CheckCost& cost : kCheckCosts) {
    if (cost.filter == CheckedFilter::kNone) continue;
    text += fmt::format(" {} {:g}/{:g}", cost.name, cost.in_cache, cost.in_memory);
  }
  return text + "\n";
}

}  // namespace exactbloom::tool
