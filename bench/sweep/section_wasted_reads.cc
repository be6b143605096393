#include <fmt/format.h>

#include <array>

#include "curves.h"
#include "figure.h"
#include "sections.h"
#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

constexpr std::array<double, 7> kWantedReads = {0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003};
constexpr double kExampleBits = 10.0;
constexpr double kExampleReads = 0.01;

Figure WastedReadsFigure(const std::string& tree, const std::vector<Curve>& curves) {
  Plot plot{
      "wasted_reads_" + tree,
      fmt::format("Wasted reads of a lookup of an absent key against filter memory: {}. Points "
                  "are measured, with their 99.9% intervals; whole lines are the exact "
                  "prediction, dashed ones join points of filters without one.",
                  DescribeTree(tree)),
      "filter bits per key",
      "wasted reads per lookup",
      false,
      true,
      {}};
  for (const Curve& curve : curves) {
    PlottedCurve plotted{curve.label, curve.colour, {}, {}, false};
    for (const Point& point : curve.points) {
      const Interval interval = point.WastedReadsInterval();
      plotted.marks.push_back(
          {point.BitsPerKey(), point.WastedReads(), interval.low, interval.high});
      plotted.line.emplace_back(point.BitsPerKey(), BestKnownWastedReads(point));
      plotted.dashed |= !point.exact_rate.has_value();
    }
    plot.curves.push_back(std::move(plotted));
  }
  return Draw(plot);
}

Table MemoryTable(const std::string& tree, const std::vector<Curve>& curves) {
  Table table{
      "memory_" + tree,
      fmt::format("Filter bits per key for so many wasted reads a lookup ({}), read off the "
                  "curves; `-` where the sweep does not reach",
                  DescribeTree(tree)),
      {"policy"},
      {}};
  for (const double reads : kWantedReads) table.columns.push_back(fmt::format("{:g}", reads));
  for (const Curve& curve : curves) {
    std::vector<Cell> row = {{curve.label, curve.label, curve.colour}};
    for (const double reads : kWantedReads) {
      const auto bits = BitsFor(curve, reads);
      row.push_back(bits ? NumberCell(*bits) : EmptyCell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// What each policy leaves of the first one's wasted reads in the same memory.
std::string EqualBytesAnswer(const std::string& tree, const std::vector<Curve>& curves) {
  const Point* baseline = curves.front().At(kExampleBits);
  if (baseline == nullptr || baseline->false_positives == 0) return "";
  std::string shares;
  for (const Curve& curve : curves) {
    const Point* point = curve.At(kExampleBits);
    if (point == nullptr || point == baseline) continue;
    shares += fmt::format("{} `{}` {:.3g}", shares.empty() ? "" : ",", curve.label,
                          point->WastedReads() / baseline->WastedReads());
  }
  return fmt::format(
      "At {:g} bits per key ({}) `{}` wastes {:.4g} reads a lookup. Of these the others "
      "leave:{}.",
      kExampleBits, DescribeTree(tree), curves.front().label, baseline->WastedReads(), shares);
}

std::string MemoryAnswer(const std::string& tree, const std::vector<Curve>& curves) {
  const auto baseline = BitsFor(curves.front(), kExampleReads);
  if (!baseline) return "";
  std::string bits;
  for (std::size_t i = 1; i < curves.size(); ++i) {
    const auto wanted = BitsFor(curves[i], kExampleReads);
    if (wanted) {
      bits += fmt::format("{} `{}` {:.2f}", bits.empty() ? "" : ",", curves[i].label, *wanted);
    }
  }
  return fmt::format("For {:g} wasted reads a lookup ({}) `{}` needs {:.2f} bits per key;{}.",
                     kExampleReads, DescribeTree(tree), curves.front().label, *baseline, bits);
}

}  // namespace

Section WastedReadsSection(const Results& results, Answers& answers) {
  Section section{
      "wasted-reads",
      "Wasted reads against memory",
      {"A read is wasted when a filter lets an absent key through to its table. Policies "
       "are compared at the bytes that their filter blocks really take."},
      {},
      {}};
  for (const std::string& tree : Trees(results)) {
    const std::vector<Curve> curves = CurvesOf(results, tree);
    section.figures.push_back(WastedReadsFigure(tree, curves));
    section.tables.push_back(MemoryTable(tree, curves));
    for (std::string answer : {EqualBytesAnswer(tree, curves), MemoryAnswer(tree, curves)}) {
      if (!answer.empty()) answers.push_back(std::move(answer));
    }
  }
  return section;
}

}  // namespace exactbloom::sweep
