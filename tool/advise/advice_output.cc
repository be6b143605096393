#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

std::string Indented(const std::string& lines) {
  std::istringstream stream(lines);
  std::string text;
  for (std::string line; std::getline(stream, line);) text += "  " + line + "\n";
  return text;
}

std::string SomeOf(std::size_t some, std::size_t families) {
  return some == families ? fmt::format("all {} column families", families)
                          : fmt::format("{} of {} column families", some, families);
}

// "column family a", "all 61 column families", "60 of 61 column families".
std::string FamiliesOf(const Advice& advice) {
  const std::size_t families = advice.families.size();
  if (families == 1) return "column family " + Escaped(advice.families.front().Name());
  return SomeOf(advice.all.trees.size(), families);
}

std::string VerdictOnSeeks(const Advice& advice) {
  const std::vector<const FamilyAdvice*> some = advice.WithPrefixes();
  std::string families = FamiliesOf(advice);  // all, where their keys are not known
  if (some.size() == 1) families = "column family " + Escaped(some.front()->Name());
  if (some.size() > 1) families = SomeOf(some.size(), advice.families.size());
  const bool is_one = some.size() == 1 || advice.families.size() == 1;
  return fmt::format("Advice: a prefix extractor for {}, since no filter serves {} seeks now.",
                     families, is_one ? "its" : "their");
}

// "2.88 in 14.9 KiB".
std::string ReadsIn(const FamilyAdvice& family, const FilterSums& filters) {
  return fmt::format("{} in {}", WastedPerThousand(family.Wasted(filters)),
                     FormatBytes(filters.bytes));
}

// How many more reads of files the advice costs than filters of kUsualBits, where lookups find
// keys.
std::string FormatFewerBits(const FamilyAdvice& all) {
  const TreePlan* best = all.Best();
  if (best == nullptr || all.present == 0.0) return "";
  TreePlan usual = *best;
  usual.options.bits_per_key = kUsualBits * (best->ribbonfilter ? 1.4 : 1.0);
  const double before = PlanOf(usual.options, all.trees, best->ribbonfilter).filters.wasted_reads /
                        static_cast<double>(all.trees.size());
  const double more = (all.Wasted(best->filters) - before) / (all.present + before);
  if (best->options.bits_per_key >= usual.options.bits_per_key) return "";
  return fmt::format(" That is {:.2f}% more reads of tables than {:g} bits per key would cost.",
                     100.0 * more, kUsualBits);
}

// What the advised and the present settings waste.
std::string FormatReads(const FamilyAdvice& all) {
  const FilterSums now = all.Now();
  std::string text = fmt::format("Wasted reads per 1,000 lookups: {} of filters; now {}",
                                 ReadsIn(all, all.Then()), ReadsIn(all, now));
  const bool differs =
      all.rewritten && !AreAlike(all.rewritten->filters.wasted_reads, now.wasted_reads);
  if (differs) {
    text +=
        fmt::format("; the present setting, rewritten, {}", ReadsIn(all, all.rewritten->filters));
  }
  return text + "." + FormatFewerBits(all);
}

std::string FormatPresentShare(const Advice& advice) {
  if (!advice.present_is_given) {
    return "All lookups are taken to miss; --present 0.9 is for 90% that find their key.";
  }
  return fmt::format("{} of the lookups are taken to find their key{}.", FormatRate(advice.present),
                     advice.log.Present() == advice.present ? ", as the LOG counts" : "");
}

std::string BlocksReadNow(const SeekAdvice& seeks) {
  return Rounded(seeks.reads_now) + (seeks.reads_now == 1.0 ? " block" : " blocks");
}

// The seeks of one of so many column families, as the beginning of a sentence.
std::string EachOf(const FamilyAdvice& family, std::size_t families) {
  return families == 1 ? "each reads" : fmt::format("each in {} reads", Escaped(family.Name()));
}

// What the seeks of a column family read, and the prefixes that its keys suggest.
std::string FormatPrefixes(const FamilyAdvice& family, const std::string& seeks_of_it) {
  const SeekAdvice& seeks = *family.seeks;
  const std::string name = Escaped(family.Name());
  return Wrapped(fmt::format(
             "{} about {} for an absent prefix. The keys of {} suggest prefixes of {} bytes, with "
             "{} keys each: {} in 1,000 seeks with filters of the advised bits.",
             seeks_of_it, BlocksReadNow(seeks), name, seeks.prefix_bytes,
             Rounded(seeks.keys_per_prefix), WastedPerThousand(seeks.reads_then))) +
         Indented(fmt::format("[CFOptions \"{}\"]\n  prefix_extractor=fixed:{}\n", name,
                              seeks.prefix_bytes));
}

// Where no keys suggest prefixes, the seeks of the column family with the most sorted runs.
std::string FormatSeeksWithoutPrefixes(const Advice& advice, const std::string& counted) {
  const FamilyAdvice* most = nullptr;
  for (const FamilyAdvice& family : advice.families) {
    if (!family.seeks) continue;
    if (most == nullptr || family.seeks->reads_now > most->seeks->reads_now) most = &family;
  }
  if (most == nullptr) return "";
  return Wrapped(fmt::format("{}{} about {} for an absent prefix. {}", counted,
                             EachOf(*most, advice.families.size()), BlocksReadNow(*most->seeks),
                             advice.database.empty()
                                 ? "The keys, which the logs do not have, may suggest one: advise "
                                   "takes the database, too."
                                 : "The keys suggest none."));
}

// With details of each column family whose keys suggest prefixes, else of the first.
std::string FormatSeeks(const Advice& advice, bool details) {
  const std::string counted = fmt::format(
      "The LOG counts {} and {}. No filter serves the seeks without a prefix extractor: ",
      Counted(advice.log.seeks, "seek"), Counted(advice.log.lookups, "lookup"));
  const std::vector<const FamilyAdvice*> families = advice.WithPrefixes();
  if (families.empty()) return FormatSeeksWithoutPrefixes(advice, counted);
  std::string text = FormatPrefixes(*families.front(),
                                    counted + EachOf(*families.front(), advice.families.size()));
  for (std::size_t i = 1; i < families.size() && details; ++i) {
    text +=
        FormatPrefixes(*families[i], fmt::format("Those in {} read", Escaped(families[i]->Name())));
  }
  if (families.size() > 1 && !details) {
    text += Wrapped(fmt::format(
        "The keys of {} suggest some, too: --details has them.",
        families.size() == 2 ? "another column family"
                             : fmt::format("{} other column families", families.size() - 1)));
  }
  return text + Wrapped(
                    "Iterators use it with auto_prefix_mode and an upper bound, or with "
                    "prefix_same_as_start.");
}

std::string FormatRefusal(const FamilyAdvice& family) {
  return Wrapped(fmt::format("No advice for {}: {}.", Escaped(family.Name()), family.refusal)) +
         (family.remedy.empty() ? "" : Wrapped(fmt::format("To do: {}.", family.remedy)));
}

// The names of the warnings, once each.
std::string NamesOfWarnings(const Advice& advice) {
  std::set<std::string> names;
  for (const FamilyAdvice& family : advice.families) {
    for (const Warning& warning : family.warnings) names.insert(warning.name);
  }
  return names.empty() ? "" : Wrapped(fmt::format("Warnings: {}.", fmt::join(names, ", ")));
}

// How far the answer rests on what was read.
std::string FormatSource(const Advice& advice) {
  std::string text;
  if (advice.unreadable != 0) {
    text += Wrapped(fmt::format("All sums are at least these: {} cannot be read.",
                                Counted(advice.unreadable, "table")));
  }
  if (!advice.database.empty()) return text;
  return text +
         Wrapped(advice.known == 1.0
                     ? "The events in the logs tell of all tables."
                     : fmt::format("The events in the logs tell of {} of the bytes of the tables; "
                                   "the others are taken to be like those of their level.",
                                   FormatRate(advice.known)));
}

// The answer first and last, and the shortest way to follow it.
std::string FormatBrief(const Advice& advice) {
  const FamilyAdvice& all = advice.all;
  const std::string verdict = Wrapped(VerdictOf(advice));
  std::string text = verdict + FormatSource(advice);
  if (!all.trees.empty() && !advice.SeeksOnly()) text += Wrapped(FormatReads(all));
  if (!advice.SeeksOnly()) text += Wrapped(FormatPresentShare(advice));
  if (advice.families.size() > 1 && !all.trees.empty() && !advice.SeeksOnly()) {
    text += Wrapped(fmt::format("A setting for each column family would waste {}.",
                                WastedPerThousand(advice.WastedApart())));
  }
  if (advice.log.seeks != 0) text += FormatSeeks(advice, /*details=*/false);
  if (advice.families.size() == 1 && !advice.families.front().refusal.empty()) {
    text += FormatRefusal(advice.families.front());
  }
  if (all.best && !advice.SeeksOnly()) {
    text += "\nIn C++:\n" + Indented(all.code_line);
    const bool has_room = all.trees.size() == 1;
    if (has_room) {
      text +=
          (all.Best()->ribbonfilter
               ? "Or in the OPTIONS file:\n"
               : "Or in the OPTIONS file of a program that registers ExactBloom's policies:\n") +
          Indented(all.listener_lines + all.options_lines);
    }
  }
  text += "\n" + NamesOfWarnings(advice);
  text += Wrapped("--details has all settings, ways to set them, and warnings.");
  return text + verdict;
}

std::string FormatCandidates(const FamilyAdvice& family) {
  // Settings are to be copied, so they are not cut for the sake of the last column.
  constexpr std::size_t kWide = 100;
  const int build_rank = support::Columns() < kWide ? support::TextTable::kNever : 2;
  support::TextTable table({"setting", "filter size", "wasted per 1,000", "memory to build"},
                           {0, 1, 0, build_rank});
  const auto add = [&](const std::string& setting, const FilterSums& filters) {
    table.AddRow({setting, FormatBytes(filters.bytes), PerThousand(family.Wasted(filters)),
                  FormatBytes(filters.build_bytes)});
  };
  add("  as it is now", family.Now());
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
  const TreePlan* best = family.Best();
  if (best == nullptr || family.trees.size() > 1) return text;
  return text + fmt::format("\nIf all tables were written now:\n\n{}", FormatPlan(*best));
}

// Column families with one setting now, one advice, and nearly the same wasted reads.
using EqualFamilies = std::vector<const FamilyAdvice*>;

std::vector<EqualFamilies> GroupsOf(const std::vector<FamilyAdvice>& families) {
  std::vector<EqualFamilies> groups;
  for (const FamilyAdvice& family : families) {
    const auto is_alike = [&](const EqualFamilies& group) {
      const FamilyAdvice& first = *group.front();
      return first.policy == family.policy && ShortAdvice(first) == ShortAdvice(family) &&
             AreAlike(first.Now().wasted_reads, family.Now().wasted_reads) &&
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

// Keys, sorted runs and bytes are sums, wasted reads means.
support::Cells CellsOf(const EqualFamilies& group) {
  std::vector<std::string> names;
  std::uint64_t keys = 0;
  std::uint64_t runs = 0;
  FilterSums now;
  FilterSums then;
  for (const FamilyAdvice* member : group) {
    names.push_back(member->Name());
    keys += member->Keys();
    runs += member->Runs();
    now.Add(member->Now());
    then.Add(member->Then());
  }
  const auto mean = [&](const FilterSums& sums) {
    return PerThousand(sums.wasted_reads / static_cast<double>(group.size()));
  };
  return {FirstOf(names),
          keys,
          runs,
          FormatBytes(now.bytes),
          mean(now),
          mean(then),
          group.front()->policy,
          ShortAdvice(*group.front())};
}

// What each column family would get if it had its own setting.
std::string FormatFamilies(const std::vector<FamilyAdvice>& families) {
  support::TextTable table({"column family", "keys", "sorted runs", "filter size", "wasted now",
                            "then", "setting now", "advice"},
                           {0, 3, 5, 4, 1, 0, 2, 0});
  std::string refusals;
  for (const EqualFamilies& group : GroupsOf(families)) {
    table.AddRow(CellsOf(group));
    for (const FamilyAdvice* member : group) {
      if (!member->refusal.empty()) refusals += "\n" + FormatRefusal(*member);
    }
  }
  return fmt::format("\nWith a setting for each; wasted reads per 1,000 lookups:\n\n{}\n{}{}",
                     table.Format(support::Columns()),
                     Wrapped("advise --column-family NAME shows the lines for one."), refusals);
}

// The ways to set the best one.
void AddWays(const FamilyAdvice& all, std::vector<AdviceStep>* steps) {
  const TreePlan& best = *all.Best();
  const std::string title = best.ribbonfilter ? "In C++, for RocksDB's own filters" : "In C++";
  steps->push_back({title, title + (all.trees.size() > 1 ? ", for each column family:" : ":"),
                    all.code_line + "\n"});
  if (!best.ribbonfilter) {
    steps->push_back({"By preloading",
                      "Or by preloading, for all column families of a program that has a shared "
                      "librocksdb.so:",
                      fmt::format("EXACTBLOOM_POLICY={} \\\nLD_PRELOAD={} \\\nPROGRAM\n",
                                  ForShell(best.policy), EXACTBLOOM_PRELOADED_OBJECT)});
  }
  const char* condition =
      best.ribbonfilter ? "if the program loads this file"
                        : "only if the program loads this file, and is preloaded with ExactBloom "
                          "or calls RegisterFilterPolicies(): in any other program new tables get "
                          "no filter";
  const bool has_others = all.listener_lines.find(':') != std::string::npos;
  steps->push_back(
      {"In the OPTIONS file",
       fmt::format("Or in the OPTIONS file, {}. Replace the lines of these names, since RocksDB "
                   "keeps the first of two.{}",
                   condition,
                   has_others ? " The listener of ExactBloom has to be the first: RocksDB 7.8 "
                                "writes several back in braces, and reads them as one name; the "
                                "others come from the program, or not at all."
                              : ""),
       all.listener_lines + all.options_lines});
}

// Reads of tables that filters let pass in vain, if all column families are asked alike. Where
// tables have no filter, reads are wasted that the counters leave out.
double SavedTableReads(const Advice& advice) {
  const double now = advice.all.trees.empty() ? 0.0 : advice.all.Now().wasted_reads;
  if (advice.log.seconds == 0.0 || now == 0.0) return 0.0;
  const double then = advice.all.Then().wasted_reads;
  const double passed = advice.passes * static_cast<double>(advice.log.passed_in_vain);
  return passed / advice.log.seconds * (1.0 - then / now);
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
          .push_back(Escaped(family.Name()));
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

std::string FormatDetails(const Advice& advice) {
  const std::string verdict = Wrapped(VerdictOf(advice));
  std::string text =
      verdict + FormatSource(advice) + Wrapped(FormatPresentShare(advice)) +
      (advice.options_file.empty()
           ? Wrapped(fmt::format("No OPTIONS file, so RocksDB's defaults are assumed: {}",
                                 advice.no_options_reason))
           : fmt::format("Options: {}\n", ForShell(advice.options_file)));
  const FamilyAdvice& all = advice.all;
  if (!all.trees.empty()) {
    const char* note = IsNameAlone(all.policy)
                           ? " (set through RocksDB's C interface, which does not write its bits "
                             "per key)"
                           : "";
    text +=
        "\n" + Wrapped(fmt::format("{}: {}{}", Capitalized(FamiliesOf(advice)), all.policy, note));
    text += Wrapped(fmt::format("{} in {}. {}", Counted(all.Keys(), "key"),
                                Counted(all.Runs(), "sorted run"), FormatReads(all)));
    text += FormatCandidates(all);
  }
  if (advice.families.size() > 1) {
    text += FormatFamilies(advice.families);
  } else if (!advice.families.empty() && !advice.families.front().refusal.empty()) {
    text += "\n" + FormatRefusal(advice.families.front());
  }
  if (advice.log.seeks != 0) text += "\n" + FormatSeeks(advice, /*details=*/true);
  for (const AdviceStep& step : StepsOf(advice.all)) {
    text += "\n" + Wrapped(step.text) + Indented(step.lines);
  }
  return text + FormatWarnings(advice.families) + FormatWorth(advice) + "\n" + verdict;
}

json SumsJson(const FamilyAdvice& family, const std::string& policy, const FilterSums& filters) {
  return {{"policy", policy},
          {"filter_bytes", filters.bytes},
          {"wasted_reads", family.Wasted(filters)},
          {"build_bytes", filters.build_bytes}};
}

json FamilyJson(const FamilyAdvice& family) {
  if (family.trees.empty()) return nullptr;
  json candidates = json::array();
  for (const TreePlan& candidate : family.candidates) {
    candidates.push_back(SumsJson(family, candidate.policy, candidate.filters));
  }
  json advice;
  if (const TreePlan* best = family.Best()) {
    if (family.trees.size() == 1) advice = ToJson(*best);
    advice.update(SumsJson(family, best->policy, best->filters));
    advice.update({{"options", family.listener_lines + family.options_lines},
                   {"code", family.code_line + "\n"},
                   {"needs_library", !best->ribbonfilter}});
  }
  json seeks;
  if (family.seeks) {
    seeks = {{"prefix_bytes", family.seeks->prefix_bytes},
             {"keys_per_prefix", family.seeks->keys_per_prefix},
             {"reads_now", family.seeks->reads_now},
             {"reads", family.seeks->reads_then}};
  }
  json document = {
      {"keys", family.Keys()},
      {"sorted_runs", family.Runs()},
      {"memory_bytes", family.memory},
      {"now", SumsJson(family, family.policy, family.Now())},
      {"rewritten",
       family.rewritten ? SumsJson(family, family.policy, family.rewritten->filters) : json()},
      {"compact", family.compacts},
      {"refusal", family.refusal.empty() ? json() : json(family.refusal)},
      {"candidates", candidates},
      {"seeks", seeks},
      {"advice", advice}};
  return document;
}

}  // namespace

std::string ShortAdvice(const FamilyAdvice& family) {
  if (family.best) return family.Best()->policy;
  if (family.compacts) return "keep it, compact";
  return family.refusal.empty() ? "keep it" : "none: see below";
}

std::string VerdictOf(const Advice& advice) {
  const FamilyAdvice& all = advice.all;
  const std::string families = FamiliesOf(advice);
  if (advice.SeeksOnly()) return VerdictOnSeeks(advice);
  if (all.trees.empty()) return fmt::format("No advice for {}.", families);
  if (!all.refusal.empty()) return fmt::format("No advice for {}: {}.", families, all.refusal);
  if (all.best) {
    return fmt::format(
        "Advice: {} for {}, instead of {}{}.", all.Best()->policy, families, all.policy,
        all.Best()->ribbonfilter ? "; it is RocksDB's own, and needs no library" : "");
  }
  if (all.compacts) {
    return fmt::format("Advice: keep {} for {}, and compact, since the tables have other filters.",
                       all.policy, families);
  }
  if (all.ReadsNothingInVain()) {
    return fmt::format("Advice: keep {} for {}; no lookup reads a table in vain.", all.policy,
                       families);
  }
  if (all.present > 0.0) {
    return fmt::format(
        "Advice: keep {} for {}; with no other do lookups read {:g} times fewer tables, or as few "
        "with {:g} times smaller filters.",
        all.policy, families, kLeastGain, kLeastGain);
  }
  return fmt::format("Advice: keep {} for {}; no other wastes {:g} times fewer reads.", all.policy,
                     families, kLeastGain);
}

std::vector<AdviceStep> StepsOf(const FamilyAdvice& all) {
  std::vector<AdviceStep> steps;
  if (!all.best && !all.compacts) return steps;
  const bool is_ribbonfilter = all.best && all.Best()->ribbonfilter;
  if (is_ribbonfilter) {
    steps.push_back(
        {"", "RocksDB's Ribbon filters take longer to build: flushes and compactions are slower.",
         ""});
  }
  if (all.best) AddWays(all, &steps);
  steps.push_back(
      {"Existing tables",
       std::string(all.best
                       ? "New tables get these filters; existing tables keep their old filters "
                         "until they are rewritten. "
                       : "") +
           "To rewrite all, in the program (docs/operations.md, Replacing filters):",
       "rocksdb::CompactRangeOptions all;\n"
       "all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;\n"
       "rocksdb::Status status = db->CompactRange(all, family, nullptr, nullptr);\n"});
  if (is_ribbonfilter && all.has_our_filters) {
    steps.push_back({"",
                     "Until then the program needs the library: without it the present filters of "
                     "ExactBloom let every key pass.",
                     ""});
  }
  return steps;
}

std::string FormatAdvice(const Advice& advice, bool details) {
  return details ? FormatDetails(advice) : FormatBrief(advice);
}

json ToJson(const Advice& advice) {
  json families = json::array();
  for (const FamilyAdvice& family : advice.families) {
    json& document = families.emplace_back(FamilyJson(family));
    document["column_family"] = family.Name();
    document["warnings"] = family.warnings;
  }
  const std::optional<double> missed = MissedBlocks(advice.log);
  return {{"database", advice.database.empty() ? json(nullptr) : json(advice.database)},
          {"known", advice.known},
          {"options_file", advice.options_file.empty() ? json(nullptr) : json(advice.options_file)},
          {"verdict", VerdictOf(advice)},
          {"present", advice.present},
          {"worthwhile_gain", kWorthwhileGain},
          {"least_gain", kLeastGain},
          {"all", FamilyJson(advice.all)},
          {"column_families", families},
          {"unreadable_tables", advice.unreadable},
          {"counted",
           {{"seconds", advice.log.seconds},
            {"lookups", advice.log.lookups},
            {"seeks", advice.log.seeks},
            {"passed_in_vain", advice.log.passed_in_vain},
            {"saved_table_reads_per_second", SavedTableReads(advice)},
            {"data_blocks_missed", missed ? json(*missed) : json()}}}};
}

}  // namespace exactbloom::tool
