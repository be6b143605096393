#include "page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>
#include <vector>

#include "exactbloom/version.h"
#include "inspect.h"
#include "memory_curve.h"
#include "page_parts.h"
#include "support/text_table.h"
#include "tool/database/database_files.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

std::string Html(const std::string& text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

// A cell with the number that the JSON has.
//   share   of the column's sum, as a bar behind the text; 0: none
template <typename Number>
std::string NumberCell(Number number, const std::string& text, double share = 0.0) {
  const std::string bar =
      share < 0.005 ? "" : fmt::format(" style=\"--part:{:.0f}%\"", 100.0 * share);
  return fmt::format("<td data-value=\"{}\"{}>{}</td>", number, bar, Html(text));
}

std::string Cell(const std::string& text) { return fmt::format("<td>{}</td>", Html(text)); }

// A table that scrolls where it is wider than the page.
//   texts   columns that are texts, the first ones; the others are numbers
std::string Table(const std::string& id, const std::string& name, std::size_t texts,
                  const std::vector<const char*>& titles, const std::string& rows) {
  std::string header;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    header +=
        fmt::format("<th scope=\"col\"{}>{}</th>", i < texts ? " class=\"text\"" : "", titles[i]);
  }
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table "
      "id=\"{}\"><thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      name, id, header, rows);
}

double ShareOf(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

// A sorted run: a table of level 0, or another level.
struct RunLine {
  std::string family;
  int level = 0;
  std::string table;  // of level 0
  FilterSummary sums;
};

std::vector<RunLine> RunsOf(const Inspection& inspection, bool folds_level0) {
  std::vector<RunLine> runs;
  if (!folds_level0) {
    for (const TableReport& table : inspection.tables) {
      if (table.location.level != 0) continue;
      runs.push_back({table.location.column_family, 0, FileName(table.location.path), {}});
      runs.back().sums.Add(table);
    }
  }
  for (const FilterSummary& level : inspection.levels) {
    if (level.level == 0 && !folds_level0) continue;
    runs.push_back({level.column_family, level.level, "", level});
  }
  std::stable_sort(runs.begin(), runs.end(), [](const RunLine& one, const RunLine& other) {
    return std::tie(one.family, one.level) < std::tie(other.family, other.level);
  });
  return runs;
}

std::string BitsPerKey(const FilterSummary& sums) {
  return sums.keys == 0 ? "-"
                        : fmt::format("{:.2f}", ShareOf(static_cast<double>(sums.bits),
                                                        static_cast<double>(sums.keys)));
}

// The cells from the filters on, with bars for the parts of all keys and wasted reads.
//   families   those that the sums are of, of which wasted reads are a mean
std::string FormatSums(const FilterSummary& sums, double families, double all_keys,
                       double all_wasted) {
  const double wasted = sums.wasted_reads / families;
  const auto keys = static_cast<double>(sums.keys);
  const bool has_filters = sums.families.size() > sums.families.count(NameOf(FilterFamily::kNone));
  return Cell(Kinds(sums) + (HasUnfiltered(sums) && has_filters ? " (not all working)" : "")) +
         NumberCell(sums.tables, support::WithCommas(sums.tables)) +
         NumberCell(sums.keys, support::WithCommas(sums.keys), ShareOf(keys, all_keys)) +
         NumberCell(ShareOf(static_cast<double>(sums.bits), keys), BitsPerKey(sums)) +
         NumberCell(sums.filter_bytes, FormatBytes(sums.filter_bytes)) +
         NumberCell(wasted, PerThousand(wasted), ShareOf(sums.wasted_reads, all_wasted)) +
         "</tr>\n";
}

std::string BeginRow(const FilterSummary& sums) {
  return HasUnfiltered(sums) ? "<tr class=\"bad\">" : "<tr>";
}

std::string FormatFamilies(const Inspection& inspection) {
  if (inspection.families.size() < 2) return "";
  const auto all_keys = static_cast<double>(inspection.totals.keys);
  std::string rows;
  for (const FamilyGroup& group : GroupsOf(inspection)) {
    rows += BeginRow(group.sums) + Cell(FirstOf(group.names)) +
            FormatSums(group.sums, static_cast<double>(group.names.size()), all_keys,
                       inspection.totals.wasted_reads);
  }
  return "<h2>Column families</h2>\n<p class=\"faint\">Those whose filters and wasted reads are "
         "alike are one line; its wasted reads are of each of them, and its bar is of all.</p>\n" +
         Table("families", "Column families", 2,
               {"column family", "filters", "tables", "keys", "bits per key", "size",
                "wasted reads per 1,000"},
               rows);
}

std::string FormatRuns(const Inspection& inspection) {
  constexpr std::size_t kMostRuns = 400;
  constexpr std::size_t kShownAtOnce = 30;
  std::vector<RunLine> runs = RunsOf(inspection, /*folds_level0=*/false);
  std::string notes;
  if (runs.size() > kMostRuns) {
    runs = RunsOf(inspection, /*folds_level0=*/true);
    notes += "<p class=\"faint\">All tables of level 0 of a column family are one line.</p>\n";
  }
  if (runs.size() > kMostRuns) {
    notes +=
        fmt::format("<p class=\"faint\">{} lines that waste the fewest reads are left out.</p>\n",
                    support::WithCommas(runs.size() - kMostRuns));
    std::stable_sort(runs.begin(), runs.end(), [](const RunLine& one, const RunLine& other) {
      return one.sums.wasted_reads > other.sums.wasted_reads;
    });
    runs.resize(kMostRuns);
  }
  const bool has_families =
      inspection.families.count(rocksdb::kDefaultColumnFamilyName) != inspection.families.size();
  const FilterSummary& totals = inspection.totals;
  std::string rows;
  for (const RunLine& run : runs) {
    const std::string level =
        run.table.empty() ? LevelName(run.level) : fmt::format("0, {}", run.table);
    rows += BeginRow(run.sums) + (has_families ? Cell(Escaped(run.family)) : "") + Cell(level) +
            FormatSums(run.sums, 1.0, static_cast<double>(totals.keys), totals.wasted_reads);
  }
  std::vector<const char*> titles = {
      "level", "filters", "tables", "keys", "bits per key", "size", "wasted reads per 1,000"};
  if (has_families) titles.insert(titles.begin(), "column family");
  std::string table = Table("runs", "Sorted runs", has_families ? 3 : 2, titles, rows);
  if (runs.size() > kShownAtOnce) {
    table = fmt::format("<details><summary>All {} sorted runs</summary>\n{}</details>\n",
                        support::WithCommas(runs.size()), table);
  }
  return "<h2>Sorted runs</h2>\n<p class=\"faint\">A sorted run is a table of level 0, or a deeper "
         "level. Bars are parts of all keys, and of all wasted reads.</p>\n" +
         table + notes;
}

std::string FormatPoint(const std::string& name, const std::string& setting,
                        const CurvePoint& point) {
  return "<tr>" + Cell(name) + Cell(setting) +
         NumberCell(point.filter_bytes, FormatBytes(point.filter_bytes)) +
         NumberCell(point.wasted_reads, PerThousand(point.wasted_reads)) + "</tr>\n";
}

CurvePoint StateOf(const FamilyAdvice& all, const FilterSums& filters) {
  CurvePoint point;
  point.filter_bytes = filters.bytes;
  point.wasted_reads = all.Wasted(filters);
  return point;
}

std::string FormatCurves(const Inspection& inspection, const Advice& advice) {
  constexpr std::size_t kMostTrees = 60;
  const std::vector<Tree>& trees = advice.all.trees;
  if (trees.empty()) return "";
  if (trees.size() > kMostTrees) {
    return fmt::format(
        "<p class=\"faint\">What other memory would give is computed for at most {} column "
        "families.</p>\n",
        kMostTrees);
  }
  const FamilyAdvice& all = advice.all;
  const std::vector<MemoryCurve> curves = MemoryCurvesOf(trees);
  std::string rows = FormatPoint("now", "-", StateOf(all, all.Now()));
  if (all.best || all.compacts) rows += FormatPoint("advised", "-", StateOf(all, all.Then()));
  for (const MemoryCurve& curve : curves) {
    for (const CurvePoint& point : curve.points) {
      rows += FormatPoint(curve.name, fmt::format("{}:{:.3g}", curve.policy, point.bits_per_key),
                          point);
    }
  }
  const std::size_t families = inspection.families.size();
  const std::string of_some =
      trees.size() == families ? ""
                               : fmt::format(" Of {} of {} column families, those that get advice.",
                                             trees.size(), families);
  return "<h2>Memory and wasted reads</h2>\n<p class=\"faint\">On this tree, as if all its tables "
         "were rewritten with each kind of filters now; Bloom and Ribbon are RocksDB's." +
         of_some + "</p>\n<details><summary>What other memory would give</summary>\n" +
         Table("curves", "What other memory would give", 2,
               {"filters", "setting", "memory", "wasted reads per 1,000"}, rows) +
         "</details>\n";
}

std::string FormatStep(const AdviceStep& step) {
  std::string text = step.title.empty() ? "" : fmt::format("<h3>{}</h3>\n", Html(step.title));
  if (step.text != step.title + ":") text += fmt::format("<p>{}</p>\n", Html(step.text));
  if (step.lines.empty()) return text;
  return text +
         fmt::format("<div class=\"copy\"><pre data-what=\"{}\" tabindex=\"0\">{}</pre></div>\n",
                     Html(step.title), Html(step.lines));
}

std::string FormatAdvicePart(const Advice& advice) {
  std::string text = "<h2>Advice</h2>\n";
  if (advice.families.empty()) return text + "<p>There are no keys in tables to advise on.</p>\n";
  const FamilyAdvice& all = advice.all;
  text += fmt::format("<p><strong>{}</strong></p>\n", Html(VerdictOf(advice)));
  if (const double present = advice.log.Present().value_or(0.0); present > 0.0) {
    text += fmt::format(
        "<p>All lookups are taken to miss here; the LOG counts {} that find their key, by which "
        "exactbloom advise answers.</p>\n",
        FormatRate(present));
  }
  for (const FamilyAdvice& family : advice.families) {
    if (family.refusal.empty()) continue;
    text += fmt::format("<p>No advice for {}: {}.{}</p>\n", Html(Escaped(family.Name())),
                        Html(family.refusal),
                        family.remedy.empty() ? "" : " To do: " + Html(family.remedy) + ".");
  }
  if (all.trees.empty()) return text;
  text += fmt::format(
      "<p>{} wasted reads per 1,000 lookups in {} of memory once all tables are rewritten, {} in "
      "{} now.</p>\n",
      WastedPerThousand(all.Wasted(all.Then())), FormatBytes(all.Then().bytes),
      WastedPerThousand(all.Wasted(all.Now())), FormatBytes(all.Now().bytes));
  for (const AdviceStep& step : StepsOf(all)) text += FormatStep(step);
  return text;
}

std::string FormatWarningsPart(const Advice& advice) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> warnings;
  for (const FamilyAdvice& family : advice.families) {
    for (const Warning& warning : family.warnings) {
      warnings[{warning.seen, warning.remedy}].push_back(Escaped(family.Name()));
    }
  }
  if (warnings.empty() && advice.left_out.empty()) return "";
  std::string text = "<h2>Warnings</h2>\n";
  for (const std::string& reason : advice.left_out) {
    text += fmt::format("<p class=\"warning\">Left out: {}.</p>\n", Html(Escaped(reason)));
  }
  constexpr std::size_t kMostNames = 10;
  for (auto& [warning, families] : warnings) {
    const std::size_t all = families.size();
    if (all > kMostNames) families.resize(kMostNames);
    text += fmt::format("<p class=\"warning\">{}{}: {}.<br>To do: {}.</p>\n",
                        Html(fmt::format("{}", fmt::join(families, ", "))),
                        all > kMostNames ? fmt::format(" and {} more", all - kMostNames) : "",
                        Html(Escaped(warning.first)), Html(Escaped(warning.second)));
  }
  return text;
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

}  // namespace

std::string FormatPage(const Inspection& inspection, const Advice& advice) {
  const std::string name = Html(Escaped(inspection.database));
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Filters of "
      "{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>",
      name);
  page += kPageStyle;
  page += fmt::format(
      "</style>\n</head>\n<body>\n<main>\n<h1>Filters of {}</h1>\n<p "
      "class=\"answer\" id=\"answer\" data-value=\"{}\">{}</p>\n",
      name, MeanWastedReads(inspection),
      Html(inspection.tables.empty() ? Escaped(WhyNoTables(inspection.database)) + "."
                                     : AnswerOf(inspection)));
  page += FormatWarningsPart(advice);
  if (!inspection.tables.empty()) {
    page += FormatCurves(inspection, advice) + FormatFamilies(inspection) + FormatRuns(inspection);
  }
  page += FormatAdvicePart(advice);
  page += fmt::format(
      "<p class=\"faint\">Wasted reads are reads of tables that lack the key, per 1,000 lookups of "
      "absent keys, each column family asked as often as the others. Written by exactbloom {} on "
      "{}.</p>\n</main>\n<script>",
      EXACTBLOOM_VERSION, Today());
  page += kPageScript;
  return page + "</script>\n</body>\n</html>\n";
}

}  // namespace exactbloom::tool
