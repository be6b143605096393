// exactbloom verify: whether every filter holds its keys, and has the right rate.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "support/errors.h"
#include "support/text_table.h"
#include "table_verification.h"
#include "tool/database/table_report.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

using VerifiedTables = std::vector<std::pair<TableLocation, TableVerification>>;

// Sums over tables. Tables that could not be read to the end count only with false negatives.
struct VerificationTally {
  std::uint64_t tables = 0;
  std::uint64_t with_false_negatives = 0;  // of the tables
  std::uint64_t unreadable = 0;
  std::uint64_t unchecked = 0;
  std::uint64_t with_empty_partitions = 0;
  std::uint64_t keys_checked = 0;
  std::uint64_t false_negatives = 0;
  RateTally absent;  // of a mixture of families without exact rates, so without an interval

  void Add(const TableVerification& table) {
    tables += 1;
    false_negatives += table.false_negatives;
    if (table.false_negatives != 0) ++with_false_negatives;
    if (!table.unchecked.empty()) ++unchecked;
    if (table.filter.empty_partitions != 0) ++with_empty_partitions;
    if (!table.status.ok()) {
      ++unreadable;
      return;
    }
    keys_checked += table.keys_checked;
    absent.Add(table.absent);
  }
};

struct VerificationSummary {
  using Row = std::tuple<std::string, int, std::string>;  // column family, level, filter's family
  std::map<Row, VerificationTally> rows;
  VerificationTally total;
};

std::string FilterOf(const TableVerification& table) {
  if (!table.status.ok()) return "unreadable";
  if (table.filter.family != FilterFamily::kUnknown) return NameOf(table.filter.family);
  return table.unchecked.empty() ? "mixed" : NameOf(FilterFamily::kUnknown);
}

VerificationSummary SummaryOf(const VerifiedTables& tables) {
  VerificationSummary summary;
  for (const auto& [location, table] : tables) {
    summary.rows[{location.column_family, location.level, FilterOf(table)}].Add(table);
    summary.total.Add(table);
  }
  return summary;
}

std::string Hex(const std::string& bytes) {
  std::string hex = "0x";
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::string Share(double part, std::uint64_t whole) {
  return whole == 0 ? "-" : FormatRate(part / static_cast<double>(whole));
}

support::Cells CellsOf(const VerificationTally& tally) {
  const RateTally& absent = tally.absent;
  std::string interval = "-";
  if (const auto measured = absent.MeasuredInterval()) {
    interval = fmt::format("{} - {}", FormatRate(measured->low), FormatRate(measured->high));
  }
  return {tally.tables,
          tally.keys_checked,
          tally.false_negatives,
          absent.asked,
          absent.positives,
          Share(static_cast<double>(absent.positives), absent.asked) +
              (absent.WithinInterval().value_or(true) ? "" : " OUTSIDE"),
          (absent.exact ? "" : "~") + Share(absent.expected, absent.asked),
          interval};
}

void PrintOf(const std::string& table, const std::string& text) {
  fmt::print("{}", Wrapped(fmt::format("{}: {}", table, text)));
}

void PrintText(const VerifiedTables& tables, const VerificationSummary& summary) {
  support::TextTable text({"column family", "level", "filter", "tables", "keys", "missed", "absent",
                           "passed", "measured", "expected", "99.9% interval"},
                          {0, 0, 1, 5, 4, 0, 6, 7, 2, 1, 3});
  for (const auto& [row, tally] : summary.rows) {
    const auto& [family, level, filter] = row;
    text.AddRow({Escaped(family), LevelName(level), filter}, CellsOf(tally),
                tally.false_negatives != 0 ? support::Style::kBad : support::Style::kPlain);
  }
  text.AddRow({"all", "", ""}, CellsOf(summary.total));
  fmt::print("{}", text.Format(support::Columns()));
  for (const auto& [location, table] : tables) {
    const std::string& path = location.path;
    if (!table.status.ok()) PrintOf(path, Describe(table.status));
    if (!table.unchecked.empty()) PrintOf(path, "not checked: " + table.unchecked);
    if (const std::uint64_t empty = table.filter.empty_partitions; empty != 0) {
      PrintOf(path, Counted(empty, "empty filter partition"));
    }
    for (const FalseNegative& missed : table.named) {
      PrintOf(path,
              fmt::format("false negative: the {} \"{}\" ({})", missed.is_prefix ? "prefix" : "key",
                          Escaped(missed.key), Hex(missed.key)));
    }
    const std::uint64_t unnamed = table.false_negatives - table.named.size();
    if (unnamed != 0) PrintOf(path, fmt::format("and {} more", unnamed));
  }
  if (summary.total.with_empty_partitions != 0) {
    fmt::print("\n{}", Wrapped(fmt::format("Empty filter partitions: {}. To do: {}.",
                                           kEmptyPartitions, kCureOfEmptyPartitions)));
  }
}

// Null for tables that are given as files, whose level is not known.
json LevelOf(int level) { return level < 0 ? json() : json(level); }

json JsonOf(const VerificationTally& tally) {
  const RateTally& absent = tally.absent;
  const auto rate_of = [&absent](double positives) {
    return absent.asked == 0 ? json() : json(positives / static_cast<double>(absent.asked));
  };
  json result = {{"tables", tally.tables},
                 {"keys_checked", tally.keys_checked},
                 {"false_negatives", tally.false_negatives},
                 {"absent_checked", absent.asked},
                 {"false_positives", absent.positives},
                 {"measured_rate", rate_of(static_cast<double>(absent.positives))},
                 {"expected_rate", rate_of(absent.expected)},
                 {"expected_is_exact", absent.exact},
                 {"interval", nullptr},
                 {"within_interval", nullptr}};
  if (const auto interval = absent.MeasuredInterval()) {
    result["interval"] = {{"low", interval->low}, {"high", interval->high}};
    result["within_interval"] = *absent.WithinInterval();
  }
  return result;
}

json JsonOf(const VerifiedTables& tables, const VerificationSummary& summary) {
  json result = JsonOf(summary.total);
  for (const char* list : {"levels", "missed", "unreadable", "unchecked", "empty_partitions"}) {
    result[list] = json::array();
  }
  for (const auto& [row, tally] : summary.rows) {
    json& level = result["levels"].emplace_back(JsonOf(tally));
    const auto& [family, number, filter] = row;
    level.update({{"column_family", family}, {"level", LevelOf(number)}, {"filter", filter}});
  }
  for (const auto& [location, table] : tables) {
    const json place = {{"table", location.path},
                        {"column_family", location.column_family},
                        {"level", LevelOf(location.level)}};
    const auto add = [&](const char* list, json what) {
      what.update(place);
      result[list].push_back(std::move(what));
    };
    if (!table.status.ok()) add("unreadable", {{"reason", Describe(table.status)}});
    if (!table.unchecked.empty()) add("unchecked", {{"reason", table.unchecked}});
    if (table.filter.empty_partitions != 0) {
      add("empty_partitions", {{"partitions", table.filter.empty_partitions}});
    }
    for (const FalseNegative& missed : table.named) {
      add("missed", {{"key", Escaped(missed.key)},
                     {"hex", Hex(missed.key)},
                     {"is_prefix", missed.is_prefix}});
    }
  }
  return result;
}

// False negatives, tables that could not be read or checked, and tables at which MultiGet fails, in
// one line; empty if none.
std::string FindingsIn(const VerificationTally& total) {
  std::vector<std::string> findings;
  if (total.false_negatives != 0) {
    findings.push_back(fmt::format("{} in {}", Counted(total.false_negatives, "false negative"),
                                   Counted(total.with_false_negatives, "table")));
  }
  if (total.unreadable != 0) {
    findings.push_back(Counted(total.unreadable, "table") + " could not be read");
  }
  if (total.unchecked != 0) {
    findings.push_back(Counted(total.unchecked, "table") + " could not be checked in full");
  }
  if (total.with_empty_partitions != 0) {
    findings.push_back("empty filter partitions in " +
                       Counted(total.with_empty_partitions, "table"));
  }
  return fmt::format("{}", fmt::join(findings, "; "));
}

}  // namespace

void RunVerify(const VerifyArguments& arguments) {
  AbsentKeyOptions absent{arguments.absent, arguments.seed, nullptr};
  std::vector<rocksdb::Slice> given(arguments.lookups.keys.begin(), arguments.lookups.keys.end());
  std::sort(given.begin(), given.end(),
            [](const auto& one, const auto& other) { return one.compare(other) < 0; });
  if (!given.empty()) absent.given = &given;
  const auto read = ReadTables<TableVerification>(
      arguments.paths, "asking filters",
      [&](const TableLocation& table) { return VerifyTable(table, absent); }, arguments.threads);
  const VerifiedTables& tables = read.tables;
  const VerificationSummary summary = SummaryOf(tables);
  const std::string findings = FindingsIn(summary.total);
  if (arguments.json) {
    PrintJson(JsonOf(tables, summary));
  } else if (tables.empty()) {
    fmt::print("{}", Wrapped(WhyNoTables(read.database) + "."));
  } else {
    PrintText(tables, summary);
    if (!given.empty() && summary.total.absent.asked == 0) {
      fmt::print("\n{}", Wrapped("No given key is in the key range of a table, so no filter was "
                                 "asked for one."));
    }
    if (findings.empty()) fmt::print("\nNo key was denied.\n");
  }
  if (!findings.empty()) throw support::Findings(findings);
}

}  // namespace exactbloom::tool
