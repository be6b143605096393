// The points of a sweep, joined to a curve for each policy, and what is read off them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results_file.h"

namespace exactbloom::sweep {

struct Curve {
  std::string family;
  std::string label;
  int colour = 0;             // the same in every tree
  std::vector<Point> points;  // by bits per key

  // The point that was planned at so many bits per key, or null.
  const Point* At(double bits) const;
};

// In the order in which the sweep first met them.
std::vector<std::string> Trees(const Results& results);
std::vector<Curve> CurvesOf(const Results& results, const std::string& tree);

// The curve of a family, or null.
const Curve* FindCurve(const std::vector<Curve>& curves, const std::string& family);

// All planned bits per key of the curves, ascending.
std::vector<double> BitsOf(const std::vector<Curve>& curves);

// The exact prediction if there is one, else what was measured.
double BestKnownWastedReads(const Point& point);

// The filter bits per key at which the curve wastes so many reads a lookup, between its points by
// logarithms; nothing outside of them.
std::optional<double> BitsFor(const Curve& curve, double wasted_reads);

// Of all curves with a point at these bits per key, the fastest first.
std::vector<const Curve*> FastestAt(const std::vector<Curve>& curves, double bits,
                                    double read_latency_us);

}  // namespace exactbloom::sweep
