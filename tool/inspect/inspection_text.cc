#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "inspect.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

using support::Style;

constexpr const char* kNothing = "-";

// A line of a table, with what lines are sorted by.
struct Line {
  std::string name;
  double wasted_reads = 0.0;  // per lookup
  std::uint64_t keys = 0;
  std::uint64_t bits = 0;
  std::uint64_t filter_bytes = 0;
  support::Cells cells;
  bool is_bad = false;

  double BitsPerKey() const {
    return keys == 0 ? 0.0 : static_cast<double>(bits) / static_cast<double>(keys);
  }
};

// Largest first; names from A to Z.
void SortLines(SortKey key, std::vector<Line>* lines) {
  const auto value_of = [key](const Line& line) {
    switch (key) {
      case SortKey::kWasted:
        return line.wasted_reads;
      case SortKey::kKeys:
        return static_cast<double>(line.keys);
      case SortKey::kBits:
        return line.BitsPerKey();
      case SortKey::kSize:
        return static_cast<double>(line.filter_bytes);
      case SortKey::kName:
        break;
    }
    return 0.0;
  };
  std::stable_sort(lines->begin(), lines->end(), [&](const Line& one, const Line& other) {
    return value_of(one) > value_of(other);
  });
}

// The table, of the first `top` lines.
std::string FormatLines(support::TextTable table, std::vector<Line> lines,
                        const InspectArguments& arguments) {
  SortLines(arguments.sort, &lines);
  const std::size_t shown =
      std::min<std::uint64_t>(lines.size(), arguments.top.value_or(lines.size()));
  for (std::size_t i = 0; i < shown; ++i) {
    table.AddRow({lines[i].name}, lines[i].cells, lines[i].is_bad ? Style::kBad : Style::kPlain);
  }
  std::string text = table.Format(support::Columns());
  if (shown != lines.size()) text += fmt::format("({} more)\n", lines.size() - shown);
  return text;
}

std::string Rate(const std::optional<double>& rate) { return rate ? FormatRate(*rate) : kNothing; }

std::string Fill(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}%", 100.0 * *share) : kNothing;
}

std::string BitsPerKey(std::uint64_t bits, std::uint64_t keys) {
  if (keys == 0 || bits == 0) return kNothing;
  return fmt::format("{:.2f}", static_cast<double>(bits) / static_cast<double>(keys));
}

std::string NameOfFilter(const TableReport& table) {
  if (!table.status.ok()) return "unreadable";
  const TableFilter& filter = table.filter;
  std::string name =
      filter.family == FilterFamily::kExactBloom ? Describe(filter.kind) : NameOf(filter.family);
  if (filter.partitioned) name += ", " + Counted(filter.blocks, "partition");
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

std::string RateWithKind(const std::optional<double>& rate,
                         const std::map<std::string, std::uint64_t>& families) {
  return rate ? FormatRate(*rate) + " " + KindOfRate(families) : kNothing;
}

// "all 73 tables have a working filter".
std::string WorkingFilters(const FilterSummary& sums) {
  const std::uint64_t need = sums.tables - sums.without_keys;
  std::string text;
  if (sums.filtering == 0 && need != 0) {
    text = sums.tables == 1
               ? "the only table has no working filter"
               : fmt::format("none of the {} has a working filter", Counted(sums.tables, "table"));
  } else if (sums.filtering != need) {
    text = fmt::format("{} of {} {} a working filter", support::WithCommas(sums.filtering),
                       Counted(sums.tables, "table"), sums.filtering == 1 ? "has" : "have");
  } else if (need == 1) {
    text = sums.tables == 1 ? "the only table has a working filter"
                            : "the only table with keys has a working filter";
  } else {
    text = fmt::format("all {} have a working filter", Counted(need, "table"));
  }
  return sums.without_keys == 0 ? text
                                : fmt::format("{}; {} without keys need none", text,
                                              support::WithCommas(sums.without_keys));
}

// Of the least and the largest of the column families, if all are asked alike. Empty if both are
// the same.
std::string Spread(const Inspection& inspection) {
  if (inspection.families.empty()) return "";
  const auto [least, most] =
      std::minmax_element(inspection.families.begin(), inspection.families.end(),
                          [](const auto& one, const auto& other) {
                            return one.second.wasted_reads < other.second.wasted_reads;
                          });
  const std::string low = WastedPerThousand(least->second.wasted_reads);
  const std::string high = WastedPerThousand(most->second.wasted_reads);
  return low == high ? "" : fmt::format(", {} to {} by column family", low, high);
}

}  // namespace

std::string AnswerOf(const Inspection& inspection) {
  const std::string filters = WorkingFilters(inspection.totals);
  if (inspection.database.empty()) return Capitalized(filters) + ".";
  const double wasted = MeanWastedReads(inspection);
  const std::uint64_t unread = inspection.totals.unreadable;
  const std::string at_least =
      unread == 0 ? ""
                  : fmt::format("At least, since {} cannot be read: ", Counted(unread, "table"));
  const std::string reads = wasted != 0.0 && wasted < kPracticallyNone
                                ? "Practically no wasted reads"
                                : WastedPerThousand(wasted) + " wasted reads";
  return fmt::format("{}{} per 1,000 lookups{}; {}.", at_least, reads, Spread(inspection), filters);
}

namespace {

std::string FormatTables(const Inspection& inspection, const InspectArguments& arguments) {
  const bool has_families = inspection.families.size() > 1;
  support::TextTable text(
      {"table", "column family", "level", "filter", "keys", "bits/key", "k", "fill", "rate",
       "given fill", "filter size", "wasted per 1,000"},
      {0, has_families ? 0 : support::TextTable::kNever, 1, 0, 3, 0, 6, 7, 2, 8, 4, 5});
  std::vector<Line> lines;
  for (const TableReport& table : inspection.tables) {
    const TableFilter& filter = table.filter;
    const double wasted = table.WastedReads();
    lines.push_back(
        {FileName(table.location.path),
         wasted,
         table.keys,
         table.bits,
         filter.bytes,
         {Escaped(table.location.column_family), LevelName(table.location.level),
          NameOfFilter(table), table.HasFilter() ? support::WithCommas(table.keys) : kNothing,
          BitsPerKey(table.bits, table.keys), Probes(filter), Fill(table.fill),
          RateWithKind(table.exact_rate, {{NameOf(filter.family), 1}}), Rate(table.fill_rate),
          FormatBytes(filter.bytes), inspection.database.empty() ? kNothing : PerThousand(wasted)},
         table.NeedsFilter() && !table.Filters()});
  }
  return "\n" + FormatLines(std::move(text), std::move(lines), arguments);
}

}  // namespace

std::string Kinds(const FilterSummary& summary) {
  std::string text;
  for (const auto& [kind, tables] : summary.families) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", support::WithCommas(tables), kind);
  }
  return text.empty() ? kNothing : text;
}

bool HasUnfiltered(const FilterSummary& sums) {
  return sums.filtering + sums.without_keys < sums.tables;
}

namespace {

double BitsOf(const FilterSummary& sums) {
  return sums.keys == 0 ? 0.0 : static_cast<double>(sums.bits) / static_cast<double>(sums.keys);
}

bool AreAlike(const FilterSummary& one, const FilterSummary& other) {
  constexpr double kSameBits = 0.25;  // per key
  const auto has_same_kind = [](const auto& kind, const auto& other_kind) {
    return kind.first == other_kind.first;
  };
  return HasUnfiltered(one) == HasUnfiltered(other) &&
         std::equal(one.families.begin(), one.families.end(), other.families.begin(),
                    other.families.end(), has_same_kind) &&
         (one.unreadable == 0) == (other.unreadable == 0) &&
         std::abs(BitsOf(one) - BitsOf(other)) <= kSameBits &&
         tool::AreAlike(one.wasted_reads, other.wasted_reads);
}

}  // namespace

std::vector<FamilyGroup> GroupsOf(const Inspection& inspection) {
  std::vector<FamilyGroup> groups;
  for (const auto& [name, sums] : inspection.families) {
    const FilterSummary& family = sums;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const FamilyGroup& known) {
      return AreAlike(known.first, family);
    });
    if (group == groups.end()) group = groups.insert(group, {{}, family, {}});
    group->names.push_back(name);
    group->sums.Add(family);
  }
  return groups;
}

namespace {

// A line for those that have the same kinds of filters, and nearly the same bits per key and wasted
// reads; the other columns have their sums.
std::string FormatFamilies(const Inspection& inspection, const InspectArguments& arguments) {
  support::TextTable text({"column family", "tables", "size", "filters", "keys", "bits/key",
                           "filter size", "index size", "wasted per 1,000"},
                          {0, 2, 6, 4, 1, 0, 3, 5, 0});
  std::vector<Line> lines;
  for (const FamilyGroup& group : GroupsOf(inspection)) {
    const FilterSummary& sums = group.sums;
    const double wasted = sums.wasted_reads / static_cast<double>(group.names.size());
    lines.push_back({FirstOf(group.names) + (sums.unreadable == 0 ? "" : ", at least"),
                     wasted,
                     sums.keys,
                     sums.bits,
                     sums.filter_bytes,
                     {sums.tables, FormatBytes(sums.file_bytes), Kinds(sums), sums.KeysOrEntries(),
                      BitsPerKey(sums.bits, sums.keys), FormatBytes(sums.filter_bytes),
                      FormatBytes(sums.index_bytes), PerThousand(wasted)},
                     HasUnfiltered(sums)});
  }
  return FormatLines(std::move(text), std::move(lines), arguments) + "\n";
}

// Of all column families together, as if each were asked as often as any other.
std::string FormatLevels(const Inspection& inspection) {
  support::TextTable text({"level", "tables", "size", "filters", "keys", "bits/key", "fill", "rate",
                           "given fill", "filter size", "index size", "asked", "wasted per 1,000"},
                          {0, 2, 8, 3, 1, 0, 9, 4, 10, 5, 6, 7, 0});
  const auto families = static_cast<double>(std::max<std::size_t>(1, inspection.families.size()));
  const auto add = [&](const std::string& name, const FilterSummary& sums) {
    const bool in_database = !inspection.database.empty();
    text.AddRow({sums.unreadable == 0 ? name : name + ", at least", sums.tables,
                 FormatBytes(sums.file_bytes), Kinds(sums), sums.KeysOrEntries(),
                 BitsPerKey(sums.bits, sums.keys), Fill(sums.fill.Value()),
                 RateWithKind(sums.exact_rate.Value(), sums.families), Rate(sums.fill_rate.Value()),
                 FormatBytes(sums.filter_bytes), FormatBytes(sums.index_bytes),
                 in_database ? fmt::format("{:.2f}", sums.asked / families) : kNothing,
                 in_database ? PerThousand(sums.wasted_reads / families) : kNothing},
                {}, name != "all" && HasUnfiltered(sums) ? Style::kBad : Style::kPlain);
  };
  std::map<int, FilterSummary> levels;
  for (const FilterSummary& level : inspection.levels) levels[level.level].Add(level);
  for (const auto& [number, level] : levels) add(LevelName(number), level);
  add("all", inspection.totals);
  return text.Format(support::Columns());
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

// Tables that share a finding.
struct NotedTables {
  std::vector<std::string> names;
  std::set<std::string> families;
};

// " of column family a", " of column families a, b, c and 9 more".
std::string FamiliesOf(const NotedTables& tables) {
  constexpr std::size_t kMostFamilies = 3;
  std::vector<std::string> names;
  for (const std::string& family : tables.families) names.push_back(Escaped(family));
  const std::size_t all = names.size();
  names.resize(std::min(all, kMostFamilies));
  return fmt::format(" of column {} {}{}", all == 1 ? "family" : "families", fmt::join(names, ", "),
                     all == names.size() ? "" : fmt::format(" and {} more", all - names.size()));
}

// The findings, one paragraph for those that share a reason.
std::string FormatNotes(const Inspection& inspection) {
  std::map<std::pair<std::string, std::string>, NotedTables> notes;  // by heading and remedy
  const auto add = [&notes](const std::string& heading, const std::string& remedy,
                            const TableReport& table) {
    NotedTables& tables = notes[{heading, remedy}];
    tables.names.push_back(FileName(table.location.path));
    tables.families.insert(table.location.column_family);
  };
  std::string text;
  constexpr std::uint64_t kLineBits = 512;
  constexpr std::uint64_t kMuchBits = 10;  // per key, by which a line may exceed them
  std::uint64_t small = 0;
  for (const TableReport& table : inspection.tables) {
    const std::string name = FileName(table.location.path);
    if (!table.status.ok()) {
      text += "\n" + Wrapped(fmt::format("{} cannot be read: {}", name, Describe(table.status)));
      continue;
    }
    const bool has_lines = table.HasFilter() && table.filter.family == FilterFamily::kBloom;
    if (has_lines && table.filter.blocks * kLineBits > kMuchBits * table.keys) ++small;
    if (table.filter.empty_partitions != 0) {
      add(fmt::format("empty filter partitions: {}", kEmptyPartitions), kCureOfEmptyPartitions,
          table);
    }
    if (!table.use || table.use->reason.empty()) continue;
    add(fmt::format("{}: {}", VerdictOf(table.use->use), table.use->reason), table.use->remedy,
        table);
  }
  if (small != 0) {
    text += "\n" + Wrapped(fmt::format(
                       "{} with few keys: RocksDB's Bloom filter takes whole cache lines of 512 "
                       "bits, which are 512 bits per key for a single key.",
                       Counted(small, "table")));
  }
  constexpr std::size_t kMostNames = 8;
  for (auto& [note, tables] : notes) {
    const auto& [heading, remedy] = note;
    std::vector<std::string>& names = tables.names;
    text += "\n" + Wrapped(fmt::format("{}: {}{}", heading, Counted(names.size(), "table"),
                                       inspection.families.size() > 1 ? FamiliesOf(tables) : ""));
    const bool all = names.size() <= kMostNames;
    if (!all) names.resize(kMostNames);
    text +=
        Wrapped(fmt::format("{}{}", fmt::join(names, " "), all ? "" : " ... (--json has all)"), 2);
    if (!remedy.empty()) text += Wrapped(fmt::format("To do: {}.", remedy), 2);
  }
  return text;
}

// Whether rocksdb_bloom is the policy of ExactBloom that the OPTIONS file names, and the only one.
bool GoesBack(const Inspection& inspection) {
  if (!NamesOurs(inspection)) return false;
  const auto& families = inspection.options->families;
  return std::all_of(families.begin(), families.end(), [](const auto& family) {
    const std::optional<PolicyOptions> policy = family.second.Ours();
    return !policy || !HasOwnFilters(*policy);
  });
}

// What comes before the library is removed, on the way back.
std::string RemovalNote(const Inspection& inspection) {
  if (!GoesBack(inspection)) return "";
  const bool is_done = std::none_of(
      inspection.tables.begin(), inspection.tables.end(),
      [](const auto& table) { return !table.status.ok() || IsOurs(table.filter.family); });
  return fmt::format("\n{}\n", is_done ? kCanRemove : kHowToRemove);
}

// What the tables of the only column family would get.
std::string FormatPlans(const Inspection& inspection) {
  const std::map<std::string, TreePlan> plans = PlansOf(inspection);
  if (inspection.families.size() > 1) {
    return "\n" + Wrapped("--column-family NAME shows the levels of one" +
                          std::string(plans.empty() ? "." : ", and what its policy plans."));
  }
  std::string text;
  for (const auto& [family, plan] : plans) {
    text += fmt::format("\n{}\n{}",
                        Wrapped(fmt::format("If all tables of [{}] were written now, with {}:",
                                            Escaped(family), plan.policy)),
                        FormatPlan(plan));
  }
  return text;
}

}  // namespace

std::string FormatInspection(const Inspection& inspection, const InspectArguments& arguments) {
  const bool in_database = !inspection.database.empty();
  if (in_database && inspection.tables.empty()) {
    return Wrapped(WhyNoTables(inspection.database) + ".") + RemovalNote(inspection);
  }
  std::string text = Wrapped(AnswerOf(inspection)) + "\n";
  if (inspection.families.size() > 1) text += FormatFamilies(inspection, arguments);
  text += FormatLevels(inspection);
  if (arguments.tables || !in_database) text += FormatTables(inspection, arguments);
  if (inspection.totals.build_bytes != 0) {
    text += fmt::format("\nBuilding the largest filter takes up to {} of memory.\n",
                        FormatBytes(inspection.totals.build_bytes));
  }
  text += FormatNotes(inspection);
  text += RemovalNote(inspection);
  text += FormatPlans(inspection);
  if (!in_database) {
    text += "\nSingle files show neither their level nor the database's options.\n";
  } else if (!inspection.options) {
    text += "\n" + Wrapped(fmt::format("Not known which filters are used: {}",
                                       inspection.no_options_reason));
  }
  return text;
}

}  // namespace exactbloom::tool
