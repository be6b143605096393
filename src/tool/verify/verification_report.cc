#include "verification_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "support/text_table.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

std::string FilterOf(const TableVerification& table) {
  if (!table.status.ok()) return "unreadable";
  if (table.filter.family != FilterFamily::kUnknown) return NameOf(table.filter.family);
  return table.unchecked.empty() ? "mixed" : NameOf(FilterFamily::kUnknown);
}

std::string Hex(const std::string& bytes) {
  std::string hex = "0x";
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

// Printable characters as they are, other bytes as \xNN.
std::string Escaped(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    const bool plain = value < 0x80 && std::isprint(value) != 0 && byte != '\\' && byte != '"';
    text += plain ? std::string(1, byte) : fmt::format("\\x{:02x}", value);
  }
  return text;
}

json JsonOf(const VerificationTally& tally) {
  const RateTally& absent = tally.absent;
  json result = {{"tables", tally.tables},
                 {"keys_checked", tally.keys_checked},
                 {"false_negatives", tally.false_negatives},
                 {"absent_checked", absent.asked},
                 {"false_positives", absent.positives},
                 {"expected", absent.expected},
                 {"expected_is_exact", absent.exact},
                 {"interval", nullptr},
                 {"within_interval", nullptr}};
  if (const auto interval = tally.exact.MeasuredInterval()) {
    result["interval"] = {interval->low, interval->high};
    result["within_interval"] = *tally.exact.WithinInterval();
  }
  return result;
}

std::string Share(double part, std::uint64_t whole) {
  return whole == 0 ? "-" : FormatRate(part / static_cast<double>(whole));
}

std::vector<std::string> CellsOf(const VerificationTally& tally) {
  const RateTally& absent = tally.absent;
  const auto within = tally.exact.WithinInterval();
  std::string interval = "-";
  if (within) {
    const Interval measured = *tally.exact.MeasuredInterval();
    interval = fmt::format("{} - {}{}", FormatRate(measured.low), FormatRate(measured.high),
                           *within ? "" : "  OUTSIDE");
  }
  return {fmt::format("{}", tally.tables),
          fmt::format("{}", tally.keys_checked),
          fmt::format("{}", tally.false_negatives),
          fmt::format("{}", absent.asked),
          fmt::format("{}", absent.positives),
          Share(static_cast<double>(absent.positives), absent.asked),
          (absent.exact ? "" : "~") + Share(absent.expected, absent.asked),
          interval};
}

std::string Count(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

void VerificationTally::Add(const TableVerification& table) {
  tables += 1;
  false_negatives += table.false_negatives;
  if (!table.status.ok()) return;
  keys_checked += table.keys_checked;
  absent.Add(table.absent);
  if (table.absent.exact) exact.Add(table.absent);
}

VerificationReport::VerificationReport(Tables tables) : tables_(std::move(tables)) {
  for (const auto& [location, table] : tables_) {
    const std::string filter = FilterOf(table);
    const auto key = std::tie(location.column_family, location.level, filter);
    auto row = std::find_if(rows_.begin(), rows_.end(), [&key](const Row& candidate) {
      return std::tie(candidate.column_family, candidate.level, candidate.filter) == key;
    });
    if (row == rows_.end()) {
      row = rows_.insert(row, {location.column_family, location.level, filter, {}});
    }
    row->tally.Add(table);
    total_.Add(table);
  }
}

std::string VerificationReport::Text() const {
  support::TextTable text({"column family", "level", "filter", "tables", "keys", "missed", "absent",
                           "passed", "measured", "expected", "99.9% interval"});
  const auto add = [&text](std::vector<std::string> cells, const VerificationTally& tally) {
    for (std::string& cell : CellsOf(tally)) cells.push_back(std::move(cell));
    text.AddRow(std::move(cells));
  };
  for (const Row& row : rows_) {
    const std::string level = row.level < 0 ? "-" : fmt::format("{}", row.level);
    add({row.column_family, level, row.filter}, row.tally);
  }
  add({"all", "", ""}, total_);
  std::string result = text.Format();
  for (const auto& [location, table] : tables_) {
    const auto say = [&result, &path = location.path](const std::string& what) {
      result += fmt::format("{}: {}\n", path, what);
    };
    if (!table.status.ok()) say(Describe(table.status));
    if (!table.unchecked.empty()) say("not checked: " + table.unchecked);
    for (const FalseNegative& missed : table.named) {
      say(fmt::format("false negative: the {} \"{}\" ({})", missed.is_prefix ? "prefix" : "key",
                      Escaped(missed.key), Hex(missed.key)));
    }
    if (table.false_negatives > table.named.size()) {
      say(fmt::format("and {} more", table.false_negatives - table.named.size()));
    }
  }
  return result;
}

json VerificationReport::Json() const {
  json result = JsonOf(total_);
  for (const char* list : {"levels", "missed", "unreadable", "unchecked"}) {
    result[list] = json::array();
  }
  for (const Row& row : rows_) {
    json level = JsonOf(row.tally);
    level["column_family"] = row.column_family;
    level["level"] = row.level;
    level["filter"] = row.filter;
    result["levels"].push_back(level);
  }
  for (const auto& [location, table] : tables_) {
    const json place = {{"table", location.path},
                        {"column_family", location.column_family},
                        {"level", location.level}};
    const auto add = [&](const char* list, json what) {
      what.update(place);
      result[list].push_back(std::move(what));
    };
    if (!table.status.ok()) add("unreadable", {{"reason", Describe(table.status)}});
    if (!table.unchecked.empty()) add("unchecked", {{"reason", table.unchecked}});
    for (const FalseNegative& missed : table.named) {
      add("missed", {{"key", Escaped(missed.key)},
                     {"hex", Hex(missed.key)},
                     {"is_prefix", missed.is_prefix}});
    }
  }
  return result;
}

std::string VerificationReport::Findings() const {
  std::vector<std::string> findings;
  const auto tables = [this](const auto& is_concerned) {
    return static_cast<std::uint64_t>(
        std::count_if(tables_.begin(), tables_.end(),
                      [&](const auto& table) { return is_concerned(table.second); }));
  };
  const std::uint64_t missing =
      tables([](const auto& table) { return table.false_negatives != 0; });
  const std::uint64_t unreadable = tables([](const auto& table) { return !table.status.ok(); });
  const std::uint64_t unchecked =
      tables([](const auto& table) { return !table.unchecked.empty(); });
  if (total_.false_negatives != 0) {
    findings.push_back(
        fmt::format("{} in {}", Count(total_.false_negatives, "false negative", "false negatives"),
                    Count(missing, "table", "tables")));
  }
  if (unreadable != 0) {
    findings.push_back(Count(unreadable, "table", "tables") + " could not be read");
  }
  if (unchecked != 0) {
    findings.push_back(Count(unchecked, "table", "tables") + " could not be checked in full");
  }
  return fmt::format("{}", fmt::join(findings, "; "));
}

}  // namespace exactbloom::tool
