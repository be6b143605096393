#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "advise.h"
#include "plugin/policy_options.h"
#include "plugin/tree/tree_division.h"
#include "support/text_table.h"
#include "tool/database/database_options.h"
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

std::string FilterNames(const TreeLevel& level) {
  std::string text;
  for (const auto& [filter, share] : level.filters) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", NameOf(filter));
  }
  return text;
}

std::string FormatTree(const FamilyAdvice& family) {
  const Tree& tree = family.tree;
  support::TextTable table({"level", "sorted runs", "tables", "keys", "filters", "bits/key",
                            "filter bytes", "asked", "wasted reads"});
  for (const TreeLevel& level : tree.levels) {
    const double bits = 8.0 * static_cast<double>(level.filter_bytes) /
                        static_cast<double>(std::max<std::uint64_t>(1, level.keys));
    table.AddRow({level.level, level.Runs(), level.tables.size(), level.keys, FilterNames(level),
                  fmt::format("{:.3f}", bits), level.filter_bytes,
                  fmt::format("{:.2f}", level.asked), Reads(level.wasted_reads)});
  }
  const Candidate& now = family.candidates.front();
  const char* note = IsNameAlone(now.policy)
                         ? ", made by RocksDB's C interface, which does not write its bits per "
                           "key down:\nthey are those of the tables"
                         : "";
  return fmt::format(
      "Column family {}, now {}{}\n\n{}\nThe filters take {} bytes. A lookup of an absent key "
      "asks {:.2f} of {} sorted runs, wastes\n{} reads and takes {:.0f} ns for checks of "
      "filters.\n",
      tree.column_family, now.policy, note, table.Format(), now.filters.bytes, tree.Asked(),
      tree.Runs(), Reads(now.filters.wasted_reads), now.filters.check_nanoseconds);
}

std::string FormatConstraint(Constraint constraint) {
  switch (constraint.goal) {
    case Goal::kMemory:
      return fmt::format("at most {:.0f} bytes, for the least time", constraint.value);
    case Goal::kRate:
      return fmt::format("a rate of at most {} in every table, for the fewest bytes",
                         FormatRate(constraint.value));
    case Goal::kWastedReads:
      return fmt::format("at most {:g} wasted reads per lookup, for the fewest bytes",
                         constraint.value);
  }
  return "";
}

std::string FormatCandidates(const FamilyAdvice& family, double read_nanoseconds) {
  support::TextTable table({"setting", "bytes", "wasted reads", "check ns", "us per lookup"});
  for (std::size_t i = 0; i < family.candidates.size(); ++i) {
    const Candidate& candidate = family.candidates[i];
    table.AddRow({std::string(i == family.best ? "* " : "  ") + (i == 0 ? "now" : candidate.policy),
                  candidate.filters.bytes, Reads(candidate.filters.wasted_reads),
                  fmt::format("{:.0f}", candidate.filters.check_nanoseconds),
                  Microseconds(candidate.filters.lookup_nanoseconds)});
  }
  return fmt::format("\nCompared: {}; a read takes {:g} us.\n\n{}",
                     FormatConstraint(family.constraint), read_nanoseconds / 1000.0,
                     table.Format());
}

std::string FormatValidity(const BloomFilterPolicyOptions& options) {
  if (options.level_bits.empty()) return "";
  return "level_bits is right for the tree as it is now: ask again when it has a level more.\n";
}

// Room is kept for small runs that come and go.
std::string FormatMost(const FamilyAdvice& family, const BloomFilterPolicyOptions& options) {
  if (!FollowsTree(options) || options.memory_budget != 0) return "";
  const double bits =
      tree::kMostOverAverage * options.bits_per_key * static_cast<double>(family.tree.Keys());
  return fmt::format(
      "These are the figures after a rebuild. The filters follow the tree: as it changes, those of "
      "so many keys\ntake at most {:.0f} bytes.\n",
      bits / 8.0);
}

std::string FormatBounded(const FamilyAdvice& family) {
  if (!family.bounded) return "";
  const TreeFilters& filters = family.bounded->filters;
  return fmt::format(
             "\nTo keep the filters within {} bytes while the tree grows ({} bytes and {} wasted "
             "reads after a rebuild):\n",
             family.bounded->options.memory_budget, filters.bytes, Reads(filters.wasted_reads)) +
         Indented(family.bounded_lines.options, "  ");
}

std::string FormatChange(const FamilyAdvice& family) {
  if (family.best == 0) {
    return fmt::format("\nKeep the present setting: no other is better by {:g}%.\n",
                       100.0 * kWorthwhileGain);
  }
  const TreeFilters& now = family.candidates.front().filters;
  const TreeFilters& best = family.candidates[family.best].filters;
  std::string text = fmt::format(
      "\nAdvice: the simplest setting within {:g}% of the best, marked *.\n"
      "  filter bytes  {} -> {}{}\n  wasted reads  {} -> {}{}\n",
      100.0 * kWorthwhileGain, now.bytes, best.bytes,
      Share(static_cast<double>(best.bytes), static_cast<double>(now.bytes)),
      Reads(now.wasted_reads), Reads(best.wasted_reads),
      Share(best.wasted_reads, now.wasted_reads));
  if (family.candidates[family.best].options.bottommost == BottommostFilter::kRibbon) {
    text +=
        "Ribbon filters cost more time to build: compactions into the deepest level take longer.\n";
  }
  text += FormatValidity(family.candidates[family.best].options);
  text += FormatMost(family, family.candidates[family.best].options);
  text += "\nIn the OPTIONS file:\n" + Indented(family.lines.options, "  ");
  text += "In C++:\n" + Indented(family.lines.code, "  ");
  text += fmt::format("New tables then get it; the present ones get it with\n  {}\n",
                      family.rebuild_command);
  if (family.left_by_rebuild != 0) {
    text += fmt::format(
        "which leaves {} of {} tables: their filter is of this kind already, whatever its bits. "
        "They get it\nwhen compaction rewrites them (CompactRange with kForce rewrites all).\n",
        family.left_by_rebuild, family.tables);
  }
  return text;
}

std::string FormatDiagnostics(const FamilyAdvice& family) {
  if (family.diagnostics.empty()) return "\nDiagnostics: none.\n";
  std::string text = "\nDiagnostics:\n";
  for (const Diagnostic& found : family.diagnostics) {
    text += fmt::format("! {}\n  {}.\n  To do: {}.\n", found.name, found.seen, found.remedy);
  }
  return text;
}

std::string FormatCounters(const FilterCounters& counters, const std::string& file) {
  std::string text =
      fmt::format("Counters of {}: {} lookups; {} checks of filters for absent keys, {} passed",
                  file, counters.lookups, counters.AbsentChecks(), counters.FalsePositives());
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

std::string FormatCheckCosts(const LookupCosts& costs) {
  std::string text =
      fmt::format("\nNanoseconds per check of a filter, {}; filters up to {} MiB / larger:\n ",
                  costs.measured ? "measured now on this processor" : "fixed (docs/performance.md)",
                  kCachedFilterBytes >> 20);
  for (const CheckedFilter filter : kCheckedFilters) {
    const CheckCost& cost = costs.Of(filter);
    text += fmt::format(" {} {:.0f}/{:.0f}", NameOf(filter), cost.in_cache, cost.in_memory);
  }
  return text + "\n";
}

}  // namespace

std::string FormatAdvice(const Advice& advice) {
  std::string text = advice.options_file.empty()
                         ? fmt::format("No OPTIONS file, so RocksDB's defaults are assumed: {}\n",
                                       advice.no_options_reason)
                         : fmt::format("Options: {}\n", advice.options_file);
  if (advice.counters) text += FormatCounters(*advice.counters, advice.statistics_file);
  for (const FamilyAdvice& family : advice.families) {
    text += "\n" + FormatTree(family) + FormatCandidates(family, advice.costs.read_nanoseconds) +
            FormatChange(family) + FormatBounded(family) + FormatDiagnostics(family);
  }
  return text + FormatCheckCosts(advice.costs);
}

}  // namespace exactbloom::tool
