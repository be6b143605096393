#include "curves.h"

#include <algorithm>
#include <cmath>

#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

// The values of a field, each once, in the order in which they come.
std::vector<std::string> Values(const Results& results, std::string Point::*field) {
  std::vector<std::string> values;
  for (const Point& point : results.points) {
    if (std::find(values.begin(), values.end(), point.*field) == values.end()) {
      values.push_back(point.*field);
    }
  }
  return values;
}

}  // namespace

const Point* Curve::At(double bits) const {
  const auto found = std::find_if(points.begin(), points.end(),
                                  [&](const Point& point) { return point.bits == bits; });
  return found == points.end() ? nullptr : &*found;
}

std::vector<std::string> Trees(const Results& results) { return Values(results, &Point::tree); }

std::vector<Curve> CurvesOf(const Results& results, const std::string& tree) {
  std::vector<Curve> curves;
  int colour = 0;
  for (const std::string& family : Values(results, &Point::family)) {
    Curve curve{family, Label(family), colour++, {}};
    for (const Point& point : results.points) {
      if (point.tree == tree && point.family == family) curve.points.push_back(point);
    }
    std::sort(curve.points.begin(), curve.points.end(),
              [](const Point& a, const Point& b) { return a.bits < b.bits; });
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

const Curve* FindCurve(const std::vector<Curve>& curves, const std::string& family) {
  const auto found = std::find_if(curves.begin(), curves.end(),
                                  [&](const Curve& curve) { return curve.family == family; });
  return found == curves.end() ? nullptr : &*found;
}

std::vector<double> BitsOf(const std::vector<Curve>& curves) {
  std::vector<double> bits;
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points) bits.push_back(point.bits);
  }
  std::sort(bits.begin(), bits.end());
  bits.erase(std::unique(bits.begin(), bits.end()), bits.end());
  return bits;
}

double BestKnownWastedReads(const Point& point) {
  return point.ExactWastedReads().value_or(point.WastedReads());
}

std::optional<double> BitsFor(const Curve& curve, double wasted_reads) {
  for (std::size_t i = 0; i + 1 < curve.points.size(); ++i) {
    const double above = BestKnownWastedReads(curve.points[i]);
    const double below = BestKnownWastedReads(curve.points[i + 1]);
    if (above < wasted_reads || below > wasted_reads || below <= 0.0 || above <= below) continue;
    const double share = std::log(above / wasted_reads) / std::log(above / below);
    const double from = curve.points[i].BitsPerKey();
    return from + share * (curve.points[i + 1].BitsPerKey() - from);
  }
  return std::nullopt;
}

std::vector<const Curve*> FastestAt(const std::vector<Curve>& curves, double bits,
                                    double read_latency_us) {
  std::vector<const Curve*> found;
  for (const Curve& curve : curves) {
    if (curve.At(bits) != nullptr) found.push_back(&curve);
  }
  std::stable_sort(found.begin(), found.end(), [&](const Curve* a, const Curve* b) {
    return a->At(bits)->TimeUs(read_latency_us) < b->At(bits)->TimeUs(read_latency_us);
  });
  return found;
}

}  // namespace exactbloom::sweep
