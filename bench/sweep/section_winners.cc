#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "curves.h"
#include "figure.h"
#include "sections.h"
#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

constexpr double kExampleLatencyUs = 100.0;

// Processor times of a busy machine are not known better than that.
constexpr double kTie = 0.03;

std::string ReadsPhrase(double latency_us) {
  return latency_us == 0.0 ? "reads that take no time"
                           : fmt::format("reads of {}", LatencyText(latency_us));
}

// The one of the swept numbers of bits per key that is nearest to what people use.
double ExampleBits(const std::vector<Curve>& curves) {
  constexpr double kUsual = 10.0;
  const std::vector<double> bits = BitsOf(curves);
  return *std::min_element(bits.begin(), bits.end(), [](double a, double b) {
    return std::abs(a - kUsual) < std::abs(b - kUsual);
  });
}

Cell WinnerCell(const std::vector<Curve>& curves, double bits, double latency_us) {
  const std::vector<const Curve*> order = FastestAt(curves, bits, latency_us);
  const double best = order.front()->At(bits)->TimeUs(latency_us);
  std::string text = fmt::format("{} {:.3g}", order.front()->label, best);
  if (order.size() > 1) {
    const double second = order[1]->At(bits)->TimeUs(latency_us);
    if (second < best * (1.0 + kTie)) text += " \u2248";
  }
  return {text, order.front()->label, order.front()->colour};
}

Table WinnerTable(const std::string& tree, const std::vector<Curve>& curves) {
  Table table{
      "winners_" + tree,
      fmt::format("The fastest policy at each number of bits per key and each read latency, "
                  "with its microseconds a lookup of an absent key ({}); \u2248 marks a "
                  "lead below {:.0f}%",
                  DescribeTree(tree), 100.0 * kTie),
      {"bits per key"},
      {}};
  for (const double latency : kReadLatenciesUs) table.columns.push_back(LatencyText(latency));
  for (const double bits : BitsOf(curves)) {
    std::vector<Cell> row = {NumberCell(bits)};
    for (const double latency : kReadLatenciesUs) row.push_back(WinnerCell(curves, bits, latency));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Above which read latency a policy beats the first one.
Cell Crossover(const Point& baseline, const Point& point) {
  const double slope = baseline.TimeUs(1.0) - baseline.cpu_us - (point.TimeUs(1.0) - point.cpu_us);
  const double handicap = point.cpu_us - baseline.cpu_us;
  if (slope <= 0.0 && handicap >= 0.0) return {"never", nullptr};
  if (slope <= 0.0) return {fmt::format("below {:.3g} us", handicap / slope), nullptr};
  if (handicap <= 0.0) return {"always", 0.0};
  return {LatencyText(handicap / slope), handicap / slope};
}

Table CrossoverTable(const std::string& tree, const std::vector<Curve>& curves) {
  Table table{"crossovers_" + tree,
              fmt::format("The read latency from which on each policy is faster than `{}` at the "
                          "same bits per key ({})",
                          curves.front().label, DescribeTree(tree)),
              {"policy"},
              {}};
  const std::vector<double> bits = BitsOf(curves);
  for (const double b : bits) table.columns.push_back(fmt::format("{:g} bits", b));
  for (std::size_t i = 1; i < curves.size(); ++i) {
    std::vector<Cell> row = {{curves[i].label, curves[i].label, curves[i].colour}};
    for (const double b : bits) {
      const Point* baseline = curves.front().At(b);
      const Point* point = curves[i].At(b);
      row.push_back(baseline != nullptr && point != nullptr ? Crossover(*baseline, *point)
                                                            : EmptyCell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Figure TimeFigure(const std::string& tree, const std::vector<Curve>& curves) {
  const double bits = ExampleBits(curves);
  Plot plot{
      "time_" + tree,
      fmt::format("Time of a lookup of an absent key against read latency at {:g} bits per key: "
                  "{}. Lines are the model, points lookups with delayed reads.",
                  bits, DescribeTree(tree)),
      "read latency, microseconds",
      "microseconds per lookup",
      true,
      true,
      {}};
  for (const Curve& curve : curves) {
    const Point* point = curve.At(bits);
    if (point == nullptr) continue;
    PlottedCurve plotted{curve.label, curve.colour, {}, {}, false};
    constexpr int kSteps = 40;
    for (int i = 0; i <= kSteps; ++i) {
      const double latency = std::pow(kReadLatenciesUs.back(), static_cast<double>(i) / kSteps);
      plotted.line.emplace_back(latency, point->TimeUs(latency));
    }
    for (const DelayedRun& run : point->delayed) {
      plotted.marks.push_back({run.read_latency_us, run.mean_us, run.mean_us, run.mean_us});
    }
    plot.curves.push_back(std::move(plotted));
  }
  return Draw(plot);
}

std::string WinnerAnswer(const std::string& tree, const std::vector<Curve>& curves,
                         double latency_us) {
  const double bits = ExampleBits(curves);
  const std::vector<const Curve*> order = FastestAt(curves, bits, latency_us);
  const Point* baseline = curves.front().At(bits);
  if (order.size() < 2 || baseline == nullptr) return "";
  const double best = order.front()->At(bits)->TimeUs(latency_us);
  const bool is_baseline_named = order[0] == &curves.front() || order[1] == &curves.front();
  const std::string others =
      is_baseline_named
          ? std::string()
          : fmt::format(", `{}` takes {:.3g}", curves.front().label, baseline->TimeUs(latency_us));
  return fmt::format(
      "At {:g} bits per key and {} ({}) `{}` is the fastest: {:.3g} us a lookup of an absent key; "
      "`{}` comes next with {:.3g}{}.",
      bits, ReadsPhrase(latency_us), DescribeTree(tree), order.front()->label, best,
      order[1]->label, order[1]->At(bits)->TimeUs(latency_us), others);
}

}  // namespace

std::string LatencyText(double microseconds) {
  return microseconds >= 1000.0 ? fmt::format("{:.3g} ms", microseconds / 1000.0)
                                : fmt::format("{:.3g} us", microseconds);
}

Section WinnersSection(const Results& results, Answers& answers) {
  Section section{
      "winners",
      "Which filter wins where",
      {"Time of a lookup = processor time + blocks read x read latency. With reads that "
       "take no time the processor decides, also by what it does for each read; with slow ones the "
       "wasted reads do."},
      {},
      {}};
  for (const std::string& tree : Trees(results)) {
    const std::vector<Curve> curves = CurvesOf(results, tree);
    section.tables.push_back(WinnerTable(tree, curves));
    section.tables.push_back(CrossoverTable(tree, curves));
    section.figures.push_back(TimeFigure(tree, curves));
    for (const double latency : {0.0, kExampleLatencyUs}) {
      std::string answer = WinnerAnswer(tree, curves, latency);
      if (!answer.empty()) answers.push_back(std::move(answer));
    }
  }
  return section;
}

}  // namespace exactbloom::sweep
