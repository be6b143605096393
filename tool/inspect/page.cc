#include "page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "inspect.h"
#include "memory_curve.h"
#include "page_parts.h"
#include "support/text_table.h"
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
template <typename Number>
std::string NumberCell(Number number, const std::string& text) {
  return fmt::format("<td data-value=\"{}\">{}</td>", number, Html(text));
}

std::string Cell(const std::string& text) { return fmt::format("<td>{}</td>", Html(text)); }

// A sorted run: a table of level 0, or another level.
struct Run {
  std::string family;
  int level = 0;
  std::string table;  // of level 0
  FilterSummary sums;
};

std::vector<Run> RunsOf(const Inspection& inspection, bool folds_level0) {
  std::vector<Run> runs;
  if (!folds_level0) {
    for (const TableReport& table : inspection.tables) {
      if (table.filter.level != 0) continue;
      runs.push_back({table.filter.column_family, 0, FileName(table.filter.path), {}});
      runs.back().sums.Add(table);
    }
  }
  for (const FilterSummary& level : inspection.levels) {
    if (level.level == 0 && !folds_level0) continue;
    runs.push_back({level.column_family, level.level, "", level});
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Run& one, const Run& other) {
    return std::tie(one.family, one.level) < std::tie(other.family, other.level);
  });
  return runs;
}

std::string KindsOf(const FilterSummary& sums) {
  std::vector<std::string> kinds;
  for (const auto& [kind, tables] : sums.families) kinds.push_back(kind);
  return kinds.empty() ? "-" : fmt::format("{}", fmt::join(kinds, ", "));
}

std::string FormatRun(const Run& run) {
  const FilterSummary& sums = run.sums;
  const bool is_bad = sums.filtering + sums.without_keys < sums.tables;
  const std::string level =
      run.table.empty() ? LevelName(run.level) : fmt::format("0 {}", run.table);
  const double bits =
      sums.keys == 0 ? 0.0 : static_cast<double>(sums.bits) / static_cast<double>(sums.keys);
  return fmt::format("<tr{}>", is_bad ? " class=\"bad\"" : "") + Cell(Escaped(run.family)) +
         Cell(level) + NumberCell(sums.tables, support::WithCommas(sums.tables)) +
         NumberCell(sums.keys, support::WithCommas(sums.keys)) +
         NumberCell(bits, sums.keys == 0 ? "-" : fmt::format("{:.2f}", bits)) +
         Cell(is_bad ? KindsOf(sums) + " (not working)" : KindsOf(sums)) +
         NumberCell(sums.filter_bytes, FormatBytes(sums.filter_bytes)) +
         NumberCell(sums.wasted_reads, PerThousand(sums.wasted_reads)) + "</tr>\n";
}

std::string FormatRuns(const Inspection& inspection) {
  constexpr std::size_t kMostRuns = 500;
  std::vector<Run> runs = RunsOf(inspection, /*folds_level0=*/false);
  std::string notes;
  if (runs.size() > kMostRuns) {
    runs = RunsOf(inspection, /*folds_level0=*/true);
    notes += "<p class=\"faint\">All tables of level 0 of a column family are one line.</p>\n";
  }
  if (runs.size() > kMostRuns) {
    notes +=
        fmt::format("<p class=\"faint\">{} lines that waste the fewest reads are left out.</p>\n",
                    support::WithCommas(runs.size() - kMostRuns));
    std::stable_sort(runs.begin(), runs.end(), [](const Run& one, const Run& other) {
      return one.sums.wasted_reads > other.sums.wasted_reads;
    });
    runs.resize(kMostRuns);
  }
  std::string rows;
  for (const Run& run : runs) rows += FormatRun(run);
  return "<h2>Sorted runs</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
         "aria-label=\"Sorted runs\">\n<table id=\"runs\"><thead><tr><th scope=\"col\">column "
         "family</th><th scope=\"col\">level</th><th scope=\"col\">tables</th><th "
         "scope=\"col\">keys</th><th scope=\"col\">bits per key</th><th "
         "scope=\"col\">filters</th><th scope=\"col\">size</th><th scope=\"col\">wasted reads per "
         "1,000 lookups</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></div>\n" + notes;
}

// Memory to the right, the logarithm of wasted reads upwards.
class CurvePlot {
 public:
  CurvePlot(const std::vector<MemoryCurve>& curves, const CurvePoint& now)
      : curves_(curves), now_(now) {
    for (const MemoryCurve& curve : curves) {
      for (const CurvePoint& point : curve.points) Extend(point);
    }
    Extend(now);
    lowest_ = std::floor(lowest_);
    highest_ = std::max(std::ceil(highest_), lowest_ + 1.0);
  }

  std::string Format() const {
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"plot-title\">\n<title "
        "id=\"plot-title\">Wasted reads per 1,000 lookups, by the memory of all filters: the table "
        "below has the numbers</title>\n",
        kWidth, kHeight);
    svg += FormatAxes();
    for (std::size_t i = 0; i < curves_.size(); ++i) svg += FormatCurve(i);
    svg += fmt::format(
        "<circle class=\"now\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\"/>\n<text x=\"{:.1f}\" "
        "y=\"{:.1f}\">now</text>\n</svg>\n",
        X(now_), Y(now_), X(now_) + 10.0, Y(now_) - 8.0);
    return svg;
  }

 private:
  static constexpr double kWidth = 760.0;
  static constexpr double kHeight = 400.0;
  static constexpr double kLeft = 90.0;
  static constexpr double kRight = 150.0;
  static constexpr double kTop = 20.0;
  static constexpr double kBottom = 50.0;
  static constexpr double kLeast = 1e-6;  // wasted reads per 1,000

  static double Height(const CurvePoint& point) {
    return std::log10(std::max(kLeast, 1000.0 * point.wasted_reads));
  }

  void Extend(const CurvePoint& point) {
    most_bytes_ = std::max(most_bytes_, static_cast<double>(point.filter_bytes));
    lowest_ = std::min(lowest_, Height(point));
    highest_ = std::max(highest_, Height(point));
  }

  double X(double bytes) const { return kLeft + bytes / most_bytes_ * (kWidth - kLeft - kRight); }
  double X(const CurvePoint& point) const { return X(static_cast<double>(point.filter_bytes)); }
  double Y(double height) const {
    return kTop + (highest_ - height) / (highest_ - lowest_) * (kHeight - kTop - kBottom);
  }
  double Y(const CurvePoint& point) const { return Y(Height(point)); }

  std::string FormatAxes() const {
    constexpr int kTicks = 4;
    std::string svg;
    for (double height = lowest_; height <= highest_; height += 1.0) {
      svg += fmt::format(
          "<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" "
          "y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
          kLeft, kWidth - kRight, Y(height), Y(height), kLeft - 8.0, Y(height) + 4.0,
          Rounded(std::pow(10.0, height)));
    }
    for (int i = 0; i <= kTicks; ++i) {
      const double bytes = most_bytes_ * i / kTicks;
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", X(bytes),
                         kHeight - kBottom + 20.0, FormatBytes(static_cast<std::uint64_t>(bytes)));
    }
    return svg + fmt::format(
                     "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">memory of all "
                     "filters</text>\n",
                     (kLeft + kWidth - kRight) / 2.0, kHeight - 8.0);
  }

  std::string FormatCurve(std::size_t place) const {
    const MemoryCurve& curve = curves_[place];
    if (curve.points.empty()) return "";
    std::string points;
    for (const CurvePoint& point : curve.points) {
      points += fmt::format("{:.1f},{:.1f} ", X(point), Y(point));
    }
    points.pop_back();
    const CurvePoint& last = curve.points.back();
    return fmt::format(
        "<polyline class=\"c{}\" points=\"{}\"/><text class=\"c{}\" x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text>\n",
        place, points, place, X(last) + 8.0, Y(last) + 4.0, Html(curve.name));
  }

  const std::vector<MemoryCurve>& curves_;
  const CurvePoint& now_;
  double most_bytes_ = 1.0;
  double lowest_ = 3.0;  // logarithms
  double highest_ = -6.0;
};

std::string FormatCurves(const std::vector<MemoryCurve>& curves, const CurvePoint& now) {
  std::string rows = fmt::format("<tr><td>now</td><td>-</td>{}{}</tr>\n",
                                 NumberCell(now.filter_bytes, FormatBytes(now.filter_bytes)),
                                 NumberCell(now.wasted_reads, PerThousand(now.wasted_reads)));
  for (const MemoryCurve& curve : curves) {
    for (const CurvePoint& point : curve.points) {
      rows += "<tr>" + Cell(curve.name) +
              Cell(fmt::format("{}:{:.3g}", curve.policy, point.bits_per_key)) +
              NumberCell(point.filter_bytes, FormatBytes(point.filter_bytes)) +
              NumberCell(point.wasted_reads, PerThousand(point.wasted_reads)) + "</tr>\n";
    }
  }
  return "<h2>Memory and wasted reads</h2>\n<p class=\"faint\">On this tree, as if all its tables "
         "were rewritten with each setting now. Lower is better; each line to the next is a factor "
         "of ten.</p>\n" +
         CurvePlot(curves, now).Format() +
         "<details><summary>The numbers of the curves</summary>\n<table id=\"curves\"><thead><tr>"
         "<th scope=\"col\">filters</th><th scope=\"col\">setting</th><th "
         "scope=\"col\">memory</th><th scope=\"col\">wasted reads per 1,000 "
         "lookups</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></details>\n";
}

std::string ToCopy(const std::string& what, const std::string& lines) {
  return fmt::format("<p>{}:</p>\n<pre data-what=\"{}\" tabindex=\"0\">{}</pre>\n", Html(what),
                     Html(what), Html(lines));
}

std::string FormatFamilyAdvice(const FamilyAdvice& family) {
  const std::string name = Escaped(family.tree.column_family);
  const TreePlan* best = family.Best();
  std::string text =
      fmt::format("<h3>Column family {}: {}</h3>\n", Html(name), Html(family.policy));
  if (!family.refusal.empty()) {
    return text + fmt::format("<p>No advice: {}.{}</p>\n", Html(family.refusal),
                              family.remedy.empty() ? "" : " To do: " + Html(family.remedy) + ".");
  }
  if (best == nullptr) {
    return text + (family.compacts
                       ? "<p>Keep this setting, and compact: the tables have other filters.</p>\n"
                       : fmt::format("<p>Keep this setting: no other wastes {:g} times fewer "
                                     "reads.</p>\n",
                                     kLeastGain));
  }
  text += fmt::format(
      "<p><strong>{}</strong>: {} instead of {} wasted reads per 1,000 lookups, in {} of memory, "
      "once all tables are rewritten.</p>\n",
      Html(best->policy), WastedPerThousand(best->filters.wasted_reads),
      WastedPerThousand(family.tree.Now().wasted_reads), FormatBytes(best->filters.bytes));
  text += ToCopy("In C++", family.code_line + "\n");
  return text +
         ToCopy("In an OPTIONS file, " +
                    std::string(best->ribbonfilter ? "if the program loads this file"
                                                   : "only if the program loads this file and "
                                                     "calls RegisterFilterPolicies()"),
                family.listener_lines + family.options_lines);
}

std::string FormatAdvicePart(const Advice& advice) {
  constexpr std::size_t kMostFamilies = 60;
  std::string text = "<h2>Advice</h2>\n";
  if (advice.families.empty()) text += "<p>There are no keys in tables to advise on.</p>\n";
  std::size_t shown = 0;
  for (const FamilyAdvice& family : advice.families) {
    if (shown++ == kMostFamilies) break;
    text += FormatFamilyAdvice(family);
  }
  if (advice.families.size() > kMostFamilies) {
    text += fmt::format("<p>{} more column families: see <code>exactbloom advise</code>.</p>\n",
                        advice.families.size() - kMostFamilies);
  }
  return text;
}

std::string FormatWarningsPart(const Advice& advice) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> warnings;
  for (const FamilyAdvice& family : advice.families) {
    for (const Warning& warning : family.warnings) {
      warnings[{warning.seen, warning.remedy}].push_back(Escaped(family.tree.column_family));
    }
  }
  std::string text = "<h2>Warnings</h2>\n";
  if (warnings.empty() && advice.left_out.empty()) return text + "<p>There are none.</p>\n";
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

}  // namespace

std::string FormatPage(const Inspection& inspection, const Advice& advice) {
  std::vector<Tree> trees;
  for (const FamilyAdvice& family : advice.families) trees.push_back(family.tree);
  constexpr std::size_t kMostTrees = 60;
  if (trees.size() > kMostTrees) trees.clear();
  CurvePoint now;
  now.filter_bytes = inspection.totals.filter_bytes;
  now.wasted_reads = MeanWastedReads(inspection);
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
      name, now.wasted_reads, Html(AnswerOf(inspection)));
  page += FormatRuns(inspection);
  if (!trees.empty()) page += FormatCurves(MemoryCurvesOf(trees), now);
  page += FormatAdvicePart(advice) + FormatWarningsPart(advice);
  page +=
      "<p class=\"faint\">Wasted reads are reads of tables that lack the key, per 1,000 lookups "
      "of absent keys, each column family asked as often as the others.</p>\n</main>\n<script>";
  page += kPageScript;
  return page + "</script>\n</body>\n</html>\n";
}

}  // namespace exactbloom::tool
