// exactbloom inspect: the filters of a database's tables, and their rates.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "plugin/bloom_filter_policy.h"
#include "tool/database/inspection.h"
#include "tool/database/tree_filters.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "tool/support/errors.h"
#include "tool/support/text_table.h"

namespace exactbloom::tool {
namespace {

constexpr const char* kNothing = "-";

std::string Rate(const std::optional<double>& rate) { return rate ? FormatRate(*rate) : kNothing; }

std::string Fixed(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : kNothing;
}

std::string BitsPerKey(std::uint64_t bits, std::uint64_t keys) {
  if (keys == 0 || bits == 0) return kNothing;
  return fmt::format("{:.3f}", static_cast<double>(bits) / static_cast<double>(keys));
}

std::string NameOfFilter(const TableReport& table) {
  if (!table.status.ok()) return "unreadable";
  const TableFilter& filter = table.filter;
  std::string name =
      filter.family == FilterFamily::kExactBloom ? Describe(filter.kind) : NameOf(filter.family);
  if (filter.partitioned) name += fmt::format(", {} partitions", filter.blocks);
  if (filter.prefix_filtering) {
    name += filter.whole_key_filtering ? ", keys and prefixes" : ", prefixes";
  }
  return name;
}

std::string Probes(const TableFilter& filter) {
  if (filter.max_probes == 0) return kNothing;
  if (filter.min_probes == filter.max_probes || filter.min_probes == 0) {
    return std::to_string(filter.max_probes);
  }
  return fmt::format("{}-{}", filter.min_probes, filter.max_probes);
}

// "exact", "model" or "mixed", by the filters that tables have.
std::string KindOfRate(const std::map<std::string, std::uint64_t>& families) {
  const std::size_t exact = families.count(NameOf(FilterFamily::kExactBloom)) +
                            families.count(NameOf(FilterFamily::kExactRibbon));
  const std::size_t none = families.count(NameOf(FilterFamily::kNone));
  if (exact == 0) return "model";
  return families.size() == exact + none ? "exact" : "mixed";
}

std::string RateWithKind(const std::optional<double>& rate,
                         const std::map<std::string, std::uint64_t>& families) {
  return rate ? FormatRate(*rate) + " " + KindOfRate(families) : kNothing;
}

// The answer for a column family, or for single files, which have no lookups.
std::string FormatAnswer(const FilterSummary& sums, bool in_database) {
  return fmt::format(
      "{}{} of {} tables filter{}; {} bits per key.\n",
      in_database ? fmt::format("Wasted reads per 1,000 lookups of absent keys: {}; ",
                                WastedPerThousand(sums.wasted_reads))
                  : "",
      sums.filtering, sums.tables,
      sums.without_keys == 0 ? "" : fmt::format(", {} without keys need none", sums.without_keys),
      sums.bits == 0 ? "0" : BitsPerKey(sums.bits, sums.keys));
}

std::string FormatTables(const Inspection& inspection) {
  support::TextTable text({"table", "level", "filter", "keys", "bits/key", "k", "fill", "rate",
                           "given fill", "filter bytes"});
  for (const TableReport& table : inspection.tables) {
    const TableFilter& filter = table.filter;
    text.AddRow({FileName(filter.path), LevelName(filter.level), NameOfFilter(table),
                 table.HasFilter() ? std::to_string(table.keys) : kNothing,
                 BitsPerKey(table.bits, table.keys), Probes(filter), Fixed(table.fill, 4),
                 RateWithKind(table.exact_rate, {{NameOf(filter.family), 1}}),
                 Rate(table.fill_rate), filter.bytes});
  }
  return "\n" + text.Format();
}

std::string Families(const FilterSummary& summary) {
  std::string text;
  for (const auto& [family, tables] : summary.families) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tables, family);
  }
  return text.empty() ? kNothing : text;
}

std::string FormatLevels(const Inspection& inspection) {
  support::TextTable text({"level", "tables", "bytes", "filters", "keys", "bits/key", "fill",
                           "rate", "given fill", "filter bytes", "asked", "wasted per 1,000"});
  const auto add = [&](const std::string& name, const FilterSummary& sums, const std::string& asked,
                       const std::string& wasted_reads) {
    text.AddRow({name, sums.tables, sums.file_bytes, Families(sums), sums.keys,
                 BitsPerKey(sums.bits, sums.keys), Fixed(sums.fill.Value(), 4),
                 RateWithKind(sums.exact_rate.Value(), sums.families), Rate(sums.fill_rate.Value()),
                 sums.filter_bytes, asked, wasted_reads});
  };
  const bool one_family = inspection.families.size() == 1;
  for (const FilterSummary& level : inspection.levels) {
    const std::string name = one_family ? LevelName(level.level)
                                        : fmt::format("{} {}", level.column_family, level.level);
    add(name, level, fmt::format("{:.2f}", level.asked), PerThousand(level.wasted_reads));
  }
  add("all", inspection.totals,
      one_family ? fmt::format("{:.2f}", inspection.totals.asked) : kNothing,
      one_family ? PerThousand(inspection.totals.wasted_reads) : kNothing);
  return text.Format();
}

const char* VerdictOf(FilterUse use) {
  switch (use) {
    case FilterUse::kUsed:
      return "filter used";
    case FilterUse::kUnused:
      return "filter not used";
    case FilterUse::kNone:
      return "no filter";
    case FilterUse::kNotNeeded:
      return "no filter needed";
    case FilterUse::kUnknown:
      break;
  }
  return "not known whether the filter is used";
}

// The findings, one paragraph for those that share a reason.
std::string FormatNotes(const Inspection& inspection) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>>
      notes;  // tables by heading and remedy
  std::string text;
  constexpr std::uint64_t kLineBits = 512;
  constexpr std::uint64_t kMuchBits = 10;  // per key, by which a line may exceed them
  std::uint64_t small = 0;
  for (const TableReport& table : inspection.tables) {
    const std::string name = FileName(table.filter.path);
    if (!table.status.ok()) {
      text += fmt::format("\n{} cannot be read: {}\n", name, Describe(table.status));
      continue;
    }
    const bool has_lines = table.HasFilter() && table.filter.family == FilterFamily::kBloom;
    if (has_lines && table.filter.blocks * kLineBits > kMuchBits * table.keys) ++small;
    if (table.filter.empty_partitions != 0) {
      notes[{fmt::format("empty filter partitions: {}", kEmptyPartitions), kCureOfEmptyPartitions}]
          .push_back(name);
    }
    if (!table.use || table.use->reason.empty()) continue;
    notes[{fmt::format("{}: {}", VerdictOf(table.use->use), table.use->reason), table.use->remedy}]
        .push_back(name);
  }
  if (small != 0) {
    text += fmt::format(
        "\n{} with few keys: RocksDB's Bloom filter takes whole cache lines of 512 bits, which are "
        "512 bits per key for a single key.\n",
        Counted(small, "table"));
  }
  constexpr std::size_t kMostNames = 8;
  for (auto& [note, names] : notes) {
    const auto& [heading, remedy] = note;
    text += "\n" + Wrapped(fmt::format("{}: {}", heading, Counted(names.size(), "table"))) + " ";
    const bool all = names.size() <= kMostNames;
    if (!all) names.resize(kMostNames);
    text += fmt::format(" {}{}\n", fmt::join(names, " "), all ? "" : " ... (--json has all)");
    if (!remedy.empty()) text += Wrapped(fmt::format("To do: {}.", remedy), 2);
  }
  return text;
}

// What policies that follow the tree would give, by the column families that the OPTIONS file sets
// them for.
std::map<std::string, TreePlan> PlansOf(const Inspection& inspection) {
  std::map<std::string, TreePlan> plans;
  for (const Tree& tree : TreesOf(inspection)) {
    const FamilyOptions* family = inspection.OptionsOf(tree.column_family);
    const BloomFilterPolicy* policy =
        family == nullptr ? nullptr : BloomFilterPolicy::Of(family->reader.get());
    if (policy == nullptr || !FollowsTree(policy->Options())) continue;
    plans[tree.column_family] = PlanOf(policy->Options(), tree);
  }
  return plans;
}

// Whether rocksdb_bloom is the only policy of ExactBloom that the OPTIONS file names, and no table
// has a filter of ExactBloom.
bool CanRemove(const Inspection& inspection) {
  const auto& families = inspection.options->families;
  const bool goes_back = std::all_of(families.begin(), families.end(), [](const auto& family) {
    const BloomFilterPolicy* policy = BloomFilterPolicy::Of(family.second.reader.get());
    return policy == nullptr || !HasOwnFilters(policy->Options());
  });
  return goes_back &&
         std::none_of(inspection.tables.begin(), inspection.tables.end(), [](const auto& table) {
           return !table.status.ok() || IsOurs(table.filter.family);
         });
}

// Whether the OPTIONS file names ExactBloom's policies.
bool NamesOurs(const Inspection& inspection) {
  if (!inspection.options) return false;
  const auto& families = inspection.options->families;
  return std::any_of(families.begin(), families.end(), [](const auto& family) {
    return BloomFilterPolicy::Of(family.second.reader.get()) != nullptr;
  });
}

std::string FormatInspection(const Inspection& inspection, bool with_tables) {
  const bool is_empty = !inspection.database.empty() && inspection.tables.empty();
  if (is_empty) return Wrapped(WhyNoTables(inspection.database) + ".");
  std::string text;
  for (const auto& [name, sums] : inspection.families) {
    if (inspection.families.size() > 1) text += name + ": ";
    text += FormatAnswer(sums, /*in_database=*/true);
  }
  if (inspection.database.empty()) text += FormatAnswer(inspection.totals, /*in_database=*/false);
  if (inspection.totals.build_bytes != 0) {
    text += fmt::format("Building the largest filter takes up to {} bytes of memory.\n",
                        inspection.totals.build_bytes);
  }
  text += "\n" + FormatLevels(inspection);
  if (with_tables || inspection.database.empty()) text += FormatTables(inspection);
  text += FormatNotes(inspection);
  if (NamesOurs(inspection)) {
    text += fmt::format("\n{}\n", CanRemove(inspection) ? kCanRemove : kBeforeRemoval);
  }
  for (const auto& [family, plan] : PlansOf(inspection)) {
    text += fmt::format("\nIf all tables of [{}] were written now, with {}:\n\n{}", family,
                        plan.policy, FormatPlan(plan));
  }
  if (inspection.database.empty()) {
    text += "\nSingle files show neither their level nor the database's options.\n";
  } else if (!inspection.options) {
    text += fmt::format("\nNot known which filters are used: {}\n", inspection.no_options_reason);
  }
  return text;
}

using nlohmann::json;

json GeometryOf(const TableFilter& filter) {
  json geometry = json::object();
  if (filter.ribbon_slots != 0) {
    geometry["slots"] = filter.ribbon_slots;
  } else if (filter.max_probes != 0) {
    geometry.update({{"k", filter.max_probes}, {"least_k", filter.min_probes}});
  }
  if (filter.family == FilterFamily::kExactBloom) geometry["kind"] = Describe(filter.kind);
  if (IsOurs(filter.family)) {
    geometry.update({{"hash_seed", filter.hash_seed}, {"block_format", filter.format_version}});
  }
  return geometry;
}

json FilterJson(const TableReport& table) {
  const TableFilter& filter = table.filter;
  json document{{"family", NameOf(filter.family)}, {"policy", filter.policy}};
  if (table.use && !table.use->reason.empty()) document["use_note"] = table.use->reason;
  if (table.use && !table.use->remedy.empty()) document["to_do"] = table.use->remedy;
  if (!table.HasFilter()) return document;
  document.update(GeometryOf(filter));
  document.update(
      {{"partitioned", filter.partitioned},
       {"blocks", filter.blocks},
       {"empty_partitions", filter.empty_partitions},
       {"bytes", filter.bytes},
       {"whole_keys", filter.whole_key_filtering},
       {"prefixes", filter.prefix_filtering},
       {"prefix_extractor", filter.prefix_extractor},
       {"m", table.bits},
       {"keys", table.keys},
       {"bits_per_key", static_cast<double>(table.bits) / static_cast<double>(table.keys)},
       {"fill", table.fill},
       {"rate", table.exact_rate},
       {"rate_kind", KindOfRate({{NameOf(filter.family), 1}})},
       {"rate_given_fill", table.fill_rate}});
  if (!filter.reason.empty()) document["unknown_because"] = filter.reason;
  document["used"] = nullptr;
  if (table.use && table.use->use != FilterUse::kUnknown) {
    document["used"] = table.use->use == FilterUse::kUsed;
  }
  return document;
}

json TableJson(const TableReport& table) {
  const TableFilter& filter = table.filter;
  json document{{"path", filter.path}, {"column_family", filter.column_family}};
  if (filter.level >= 0) document.update({{"level", filter.level}, {"number", filter.number}});
  if (!table.status.ok()) {
    document["error"] = Describe(table.status);
    return document;
  }
  document.update({{"bytes", filter.file_bytes},
                   {"entries", filter.entries},
                   {"range_deletes", filter.range_deletes},
                   {"filter", FilterJson(table)}});
  return document;
}

json SummaryJson(const FilterSummary& summary) {
  return {{"tables", summary.tables},
          {"unreadable", summary.unreadable},
          {"filtering", summary.filtering},
          {"without_keys", summary.without_keys},
          {"filters", summary.families},
          {"bytes", summary.file_bytes},
          {"entries", summary.entries},
          {"filter_bytes", summary.filter_bytes},
          {"build_bytes", summary.build_bytes},
          {"m", summary.bits},
          {"keys", summary.keys},
          {"bits_per_key", static_cast<double>(summary.bits) / static_cast<double>(summary.keys)},
          {"fill", summary.fill.Value()},
          {"rate", summary.exact_rate.Value()},
          {"rate_kind", KindOfRate(summary.families)},
          {"rate_given_fill", summary.fill_rate.Value()}};
}

json ToJson(const Inspection& inspection) {
  json files = json::array();
  for (const TableReport& table : inspection.tables) files.push_back(TableJson(table));
  json levels = json::array();
  for (const FilterSummary& level : inspection.levels) {
    json document{{"column_family", level.column_family}, {"level", level.level}};
    document.update(SummaryJson(level));
    document["asked"] = level.asked;
    document["wasted_reads"] = level.wasted_reads;
    levels.push_back(document);
  }
  json totals = SummaryJson(inspection.totals);
  for (const auto& [name, sums] : inspection.families) {
    totals["wasted_reads"][name] = sums.wasted_reads;
  }
  json document{{"files", files}, {"levels", levels}, {"totals", totals}};
  json plans = json::array();
  for (const auto& [family, plan] : PlansOf(inspection)) {
    plans.push_back(ToJson(plan));
    plans.back()["column_family"] = family;
  }
  document["plans"] = plans;
  document["names_exactbloom"] = NamesOurs(inspection);
  document["options_file"] = inspection.options ? json(inspection.options->file) : json(nullptr);
  return document;
}

}  // namespace

void RunInspect(const InspectArguments& arguments) {
  const Inspection inspection = Inspect(arguments.paths, arguments.lookups.keys);
  if (arguments.json) {
    PrintJson(ToJson(inspection));
  } else {
    fmt::print("{}", FormatInspection(inspection, arguments.tables));
  }
  const FilterSummary& totals = inspection.totals;
  std::vector<std::string> findings;
  if (totals.unreadable != 0) {
    findings.push_back(
        fmt::format("{} of {} tables cannot be read", totals.unreadable, totals.tables));
  }
  if (totals.with_empty_partitions != 0) {
    findings.push_back(fmt::format("{} of {} tables have empty filter partitions",
                                   totals.with_empty_partitions, totals.tables));
  }
  if (inspection.options_unreadable) findings.push_back(inspection.no_options_reason);
  if (!findings.empty()) throw support::Findings(fmt::format("{}", fmt::join(findings, "; ")));
}

}  // namespace exactbloom::tool
