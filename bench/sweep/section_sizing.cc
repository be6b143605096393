#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "figure.h"
#include "measure_sizing.h"
#include "sections.h"

namespace exactbloom::sweep {
namespace {

// Filters of so many keys and more are those of large tables.
constexpr std::uint64_t kLargeFilterKeys = 100'000;
constexpr std::uint64_t kSmallPartitionKeys = 64;
constexpr double kTargetRate = 0.01;

std::string LayoutName(Layout layout) {
  const std::string kind = layout.kind == FilterKind::kClassic ? "classic" : "standard";
  return !layout.InLines() ? kind : fmt::format("{} lines={}", kind, layout.Lines());
}

// Per cent of the usual k's false positives that k* saves.
double Saved(double usual, double exact) { return 100.0 * (1.0 - exact / usual); }

double ExactlySaved(const SizingPoint& point) {
  return Saved(point.usual.exact_rate, point.exact.exact_rate);
}

// Whether k differs, and chance does not hide by how much.
bool IsMeasurable(const SizingPoint& point) {
  constexpr std::uint64_t kFewestFalsePositives = 1000;
  return point.usual.probes != point.exact.probes &&
         point.exact.false_positives >= kFewestFalsePositives;
}

Table ProbesTable(const Results& results) {
  Table table{"sizing_probes",
              "k = round(ln 2 m/n) against the k of the lowest exact rate, in the same m bits",
              {"layout", "keys", "bits per key", "usual k", "k*", "rate, usual k", "measured",
               "rate, k*", "measured", "saved %, exact", "saved %, measured"},
              {}};
  for (const SizingPoint& point : results.sizing) {
    const double usual = point.usual.MeasuredRate();
    table.rows.push_back(
        {TextCell(LayoutName(point.layout)), NumberCell(static_cast<double>(point.keys), 7),
         NumberCell(point.BitsPerKey()), NumberCell(point.usual.probes),
         NumberCell(point.exact.probes), NumberCell(point.usual.exact_rate), NumberCell(usual),
         NumberCell(point.exact.exact_rate), NumberCell(point.exact.MeasuredRate()),
         NumberCell(ExactlySaved(point), 3),
         IsMeasurable(point) ? NumberCell(Saved(usual, point.exact.MeasuredRate()), 3)
                             : EmptyCell()});
  }
  return table;
}

// The usual m = n log2(1/rate) / ln 2 misses the rate that it is for.
Table BitsTable() {
  Table table{"sizing_bits",
              fmt::format("Memory for a rate of {:g}: the usual m = n log2(1/rate) / ln 2 with its "
                          "usual k, and the smallest filter that keeps the promise",
                          kTargetRate),
              {"layout", "keys", "usual bits per key", "its rate", "over the promise %",
               "exact bits per key", "exact k"},
              {}};
  for (const Layout layout : {Layout(FilterKind::kClassic), Layout(FilterKind::kStandard)}) {
    for (const std::uint64_t keys : {8U, 16U, 64U, 400U, 3200U, 100'000U}) {
      const auto n = static_cast<double>(keys);
      const double natural = std::log(2.0);
      const auto bits =
          static_cast<std::uint64_t>(std::ceil(-n * std::log2(kTargetRate) / natural));
      const double rate = FalsePositiveRate(layout, bits, keys, UsualProbes(layout, bits, keys));
      const auto exact = SmallestFilter(layout, keys, kTargetRate);
      if (!exact) continue;
      table.rows.push_back({TextCell(LayoutName(layout)), NumberCell(n, 7),
                            NumberCell(static_cast<double>(bits) / n), NumberCell(rate),
                            NumberCell(100.0 * (rate / kTargetRate - 1.0), 3),
                            NumberCell(static_cast<double>(exact->bits) / n),
                            NumberCell(exact->probes)});
    }
  }
  return table;
}

Figure ProbesFigure(const Results& results) {
  Plot plot{"sizing",
            "False positives that k* saves of those of the usual k, in whole filters, by the exact "
            "rates (lines) and measured (points, with their intervals where k differs)",
            "keys of the filter",
            "saved, per cent",
            true,
            false,
            {}};
  std::map<std::string, PlottedCurve> curves;
  for (const SizingPoint& point : results.sizing) {
    if (point.layout.InLines()) continue;
    const std::string label =
        fmt::format("{}, {:g} bits per key", LayoutName(point.layout), point.BitsPerKey());
    const auto [entry, is_new] = curves.try_emplace(label);
    PlottedCurve& curve = entry->second;
    curve.label = label;
    if (is_new) curve.colour = static_cast<int>(curves.size()) - 1;
    const auto keys = static_cast<double>(point.keys);
    curve.line.emplace_back(keys, ExactlySaved(point));
    if (!IsMeasurable(point)) continue;
    const double usual = point.usual.MeasuredRate();
    const Interval interval = point.exact.RateInterval();
    curve.marks.push_back({keys, Saved(usual, point.exact.MeasuredRate()),
                           Saved(usual, interval.high), Saved(usual, interval.low)});
  }
  for (auto& [label, curve] : curves) plot.curves.push_back(std::move(curve));
  return Draw(plot);
}

const SizingPoint* LargestSaving(const Results& results,
                                 const std::function<bool(const SizingPoint&)>& counts) {
  const SizingPoint* best = nullptr;
  for (const SizingPoint& point : results.sizing) {
    if (!counts(point)) continue;
    if (best == nullptr || ExactlySaved(point) > ExactlySaved(*best)) best = &point;
  }
  return best;
}

void AddAnswer(const std::string& where, const SizingPoint* best, Answers& answers) {
  if (best == nullptr) return;
  if (best->exact.probes == best->usual.probes) {
    answers.push_back(fmt::format("Exact k, {}: the usual k is the best one already.", where));
    return;
  }
  const std::string measured =
      IsMeasurable(*best) ? fmt::format("{:.3g}% measured", Saved(best->usual.MeasuredRate(),
                                                                  best->exact.MeasuredRate()))
                          : std::string("too rare to measure");
  answers.push_back(fmt::format(
      "Exact k, {}: it saves at most {:.3g}% of the false positives of the usual k ({}, "
      "{} keys at {:.4g} bits per key, k = {} instead of {}; {}).",
      where, ExactlySaved(*best), LayoutName(best->layout), best->keys, best->BitsPerKey(),
      best->exact.probes, best->usual.probes, measured));
}

}  // namespace

Section SizingSection(const Results& results, Answers& answers) {
  if (results.sizing.empty()) return {};
  AddAnswer("in whole filters of large tables",
            LargestSaving(results,
                          [](const SizingPoint& point) {
                            return !point.layout.InLines() && point.keys >= kLargeFilterKeys;
                          }),
            answers);
  AddAnswer("in filters of small partitions",
            LargestSaving(results,
                          [](const SizingPoint& point) {
                            return !point.layout.InLines() && point.keys <= kSmallPartitionKeys;
                          }),
            answers);
  AddAnswer("in cache-line layouts, for which the usual formula was not made",
            LargestSaving(results, [](const SizingPoint& point) { return point.layout.InLines(); }),
            answers);
  return {"sizing",
          "What exact sizing is worth",
          {"The usual formulas are limits for large filters: there exact sizing changes next to "
           "nothing, and a filter keeps its promised rate either way. It counts in filters of tens "
           "of keys, and where a key's bits share a cache line. These filters were built outside "
           "RocksDB, with either k, and asked for absent keys."},
          {ProbesFigure(results)},
          {ProbesTable(results), BitsTable()}};
}

}  // namespace exactbloom::sweep
