#include <fmt/format.h>

#include "curves.h"
#include "figure.h"
#include "sections.h"
#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

constexpr const char* kAllocation = "size_ratio={size_ratio}";

// The same policy with all levels alike; empty if the family divides no memory.
std::string WithoutAllocation(const std::string& family) {
  const std::string option = std::string(";") + kAllocation;
  const auto at = family.find(option);
  if (at == std::string::npos) return "";
  std::string uniform = family;
  uniform.erase(at, option.size());
  const std::string ribbon = ";bottommost=ribbon";
  const auto bottom = uniform.find(ribbon);
  if (bottom != std::string::npos) uniform.erase(bottom, ribbon.size());
  return uniform == "{id=classic_bloom;bits_per_key={bits}}" ? "classic_bloom:{bits}" : uniform;
}

struct Pair {
  const Curve* allocated;
  const Curve* uniform;
};

std::vector<Pair> Pairs(const std::vector<Curve>& curves) {
  std::vector<Pair> pairs;
  for (const Curve& curve : curves) {
    const std::string family = WithoutAllocation(curve.family);
    const Curve* uniform = family.empty() ? nullptr : FindCurve(curves, family);
    if (uniform != nullptr) pairs.push_back({&curve, uniform});
  }
  return pairs;
}

std::vector<Cell> LevelRow(const Pair& pair, const Point& uniform, const Point& allocated) {
  const double ratio =
      uniform.false_positives == 0 ? 0.0 : allocated.WastedReads() / uniform.WastedReads();
  const auto exact_uniform = uniform.ExactWastedReads();
  const auto exact_allocated = allocated.ExactWastedReads();
  const auto equal = BitsFor(*pair.uniform, BestKnownWastedReads(allocated));
  return {{pair.allocated->label, pair.allocated->label, pair.allocated->colour},
          NumberCell(allocated.bits),
          NumberCell(uniform.BitsPerKey()),
          NumberCell(allocated.BitsPerKey()),
          NumberCell(uniform.WastedReads()),
          NumberCell(allocated.WastedReads()),
          NumberCell(ratio, 3),
          exact_uniform && exact_allocated ? NumberCell(*exact_allocated / *exact_uniform, 3)
                                           : EmptyCell(),
          equal ? NumberCell(*equal - allocated.BitsPerKey(), 3) : EmptyCell()};
}

Figure LevelsFigure(const std::string& tree, const std::vector<Pair>& pairs) {
  Plot plot{
      "levels_" + tree,
      fmt::format("Wasted reads that remain when the same memory is divided among the levels: "
                  "{}. Points are measured, lines exact.",
                  DescribeTree(tree)),
      "bits per key",
      "share of the wasted reads",
      false,
      false,
      {}};
  for (const Pair& pair : pairs) {
    PlottedCurve plotted{pair.allocated->label, pair.allocated->colour, {}, {}, false};
    for (const Point& allocated : pair.allocated->points) {
      const Point* uniform = pair.uniform->At(allocated.bits);
      if (uniform == nullptr || uniform->false_positives == 0) continue;
      const double ratio = allocated.WastedReads() / uniform->WastedReads();
      const Interval interval = allocated.WastedReadsInterval();
      plotted.marks.push_back({allocated.bits, ratio, interval.low / uniform->WastedReads(),
                               interval.high / uniform->WastedReads()});
      plotted.line.emplace_back(allocated.bits,
                                BestKnownWastedReads(allocated) / BestKnownWastedReads(*uniform));
    }
    plot.curves.push_back(std::move(plotted));
  }
  return Draw(plot);
}

void AddAnswers(const std::string& tree, const std::vector<Pair>& pairs, Answers& answers) {
  constexpr double kExampleBits = 10.0;
  for (const Pair& pair : pairs) {
    const Point* allocated = pair.allocated->At(kExampleBits);
    const Point* uniform = pair.uniform->At(kExampleBits);
    if (allocated == nullptr || uniform == nullptr || uniform->false_positives == 0) continue;
    answers.push_back(
        fmt::format("Dividing the memory among levels, `{}` leaves {:.3g} of the wasted reads of "
                    "`{}` at {:g} bits "
                    "per key ({}; {:.2f} bits per key against {:.2f}).",
                    pair.allocated->label, allocated->WastedReads() / uniform->WastedReads(),
                    pair.uniform->label, kExampleBits, DescribeTree(tree), allocated->BitsPerKey(),
                    uniform->BitsPerKey()));
  }
}

}  // namespace

Section LevelsSection(const Results& results, Answers& answers) {
  Section section{
      "levels",
      "What the level allocation saves",
      {"A bit spent on a small level buys more than one spent on a large level. The last "
       "column says how many more bits per key uniform filters need for as few wasted "
       "reads."},
      {},
      {}};
  for (const std::string& tree : Trees(results)) {
    const std::vector<Curve> curves = CurvesOf(results, tree);
    const std::vector<Pair> pairs = Pairs(curves);
    if (pairs.empty()) continue;
    Table table{"levels_" + tree,
                fmt::format("Memory divided among levels against the same for all ({})",
                            DescribeTree(tree)),
                {"policy", "bits per key", "taken, uniform", "taken, divided", "wasted, uniform",
                 "wasted, divided", "share, measured", "share, exact", "bits saved"},
                {}};
    for (const Pair& pair : pairs) {
      for (const Point& allocated : pair.allocated->points) {
        const Point* uniform = pair.uniform->At(allocated.bits);
        if (uniform != nullptr) table.rows.push_back(LevelRow(pair, *uniform, allocated));
      }
    }
    section.figures.push_back(LevelsFigure(tree, pairs));
    section.tables.push_back(std::move(table));
    AddAnswers(tree, pairs, answers);
  }
  return section;
}

}  // namespace exactbloom::sweep
