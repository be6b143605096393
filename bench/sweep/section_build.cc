#include <fmt/format.h>

#include <algorithm>

#include "curves.h"
#include "figure.h"
#include "sections.h"
#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

Figure BuildFigure(const std::string& tree, const std::vector<Curve>& curves) {
  Plot plot{"build_" + tree,
            fmt::format("Processor time of building the filters against the wasted reads that they "
                        "leave: {}",
                        DescribeTree(tree)),
            "wasted reads per lookup",
            "nanoseconds per key",
            true,
            false,
            {}};
  for (const Curve& curve : curves) {
    PlottedCurve plotted{curve.label, curve.colour, {}, {}, false};
    for (const Point& point : curve.points) {
      const double reads = BestKnownWastedReads(point);
      plotted.marks.push_back({reads, point.build_ns, point.build_ns, point.build_ns});
      plotted.line.emplace_back(reads, point.build_ns);
    }
    plot.curves.push_back(std::move(plotted));
  }
  return Draw(plot);
}

Table BuildTable(const std::string& tree, const std::vector<Curve>& curves) {
  const std::vector<double> bits = BitsOf(curves);
  Table table{
      "build_times_" + tree,
      fmt::format("Nanoseconds of processor time per key for its filter alone ({}), by bits "
                  "per key; the last column is the microseconds per key of everything that "
                  "loading does, at {:g} bits per key",
                  DescribeTree(tree), bits[bits.size() / 2]),
      {"policy"},
      {}};
  for (const double b : bits) table.columns.push_back(fmt::format("{:g} bits", b));
  table.columns.emplace_back("loading, us");
  for (const Curve& curve : curves) {
    std::vector<Cell> row = {{curve.label, curve.label, curve.colour}};
    for (const double b : bits) {
      const Point* point = curve.At(b);
      row.push_back(point != nullptr ? NumberCell(point->build_ns, 3) : EmptyCell());
    }
    const Point* middle = curve.At(bits[bits.size() / 2]);
    row.push_back(middle != nullptr ? NumberCell(middle->load_cpu_us, 3) : EmptyCell());
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Section BuildSection(const Results& results, Answers& answers) {
  constexpr double kExampleBits = 10.0;
  Section section{
      "build",
      "What building costs",
      {"Filters are built again in memory from the keys of each table, as RocksDB's "
       "compaction does; `loading` is all that writing, flushing and compacting takes."},
      {},
      {}};
  for (const std::string& tree : Trees(results)) {
    const std::vector<Curve> curves = CurvesOf(results, tree);
    section.figures.push_back(BuildFigure(tree, curves));
    section.tables.push_back(BuildTable(tree, curves));
    std::string times;
    for (const Curve& curve : curves) {
      const Point* point = curve.At(kExampleBits);
      if (point == nullptr) continue;
      times +=
          fmt::format("{} `{}` {:.3g}", times.empty() ? "" : ",", curve.label, point->build_ns);
    }
    if (times.empty()) continue;
    answers.push_back(fmt::format("Building at {:g} bits per key ({}), nanoseconds a key:{}.",
                                  kExampleBits, DescribeTree(tree), times));
  }
  return section;
}

}  // namespace exactbloom::sweep
