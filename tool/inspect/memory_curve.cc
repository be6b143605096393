#include "memory_curve.h"

#include <functional>

#include "plugin/policy_options.h"

namespace exactbloom::tool {
namespace {

CurvePoint PointOf(const std::vector<Tree>& trees, double bits_per_key,
                   const std::function<TreePlan(const Tree&)>& plan) {
  CurvePoint point;
  point.bits_per_key = bits_per_key;
  for (const Tree& tree : trees) {
    const FilterSums filters = plan(tree).filters;
    point.filter_bytes += filters.bytes;
    point.wasted_reads += filters.wasted_reads / static_cast<double>(trees.size());
  }
  return point;
}

}  // namespace

std::vector<MemoryCurve> MemoryCurvesOf(const std::vector<Tree>& trees) {
  std::vector<MemoryCurve> curves = {{"Bloom", "bloomfilter", {}},
                                     {"Ribbon", "ribbonfilter", {}},
                                     {"ExactBloom", "exactbloom", {}}};
  if (trees.empty()) return curves;
  constexpr double kRibbonBits = 1.44;  // of a Bloom filter of the same rate, which is the option
  for (const double bits : {2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 17.0, 20.0}) {
    PolicyOptions bloom = PolicyKind::kRocksDBBloom;
    bloom.bits_per_key = bits;
    PolicyOptions ribbon;
    ribbon.bits_per_key = kRibbonBits * bits;
    PolicyOptions ours = PolicyKind::kExactBloom;
    ours.bits_per_key = bits;
    curves[0].points.push_back(
        PointOf(trees, bits, [&](const Tree& tree) { return PlanOf(bloom, tree); }));
    curves[1].points.push_back(PointOf(trees, ribbon.bits_per_key, [&](const Tree& tree) {
      return PlanOf(ribbon, tree, /*ribbonfilter=*/true);
    }));
    curves[2].points.push_back(
        PointOf(trees, bits, [&](const Tree& tree) { return PlanOf(ours, tree); }));
  }
  return curves;
}

}  // namespace exactbloom::tool
