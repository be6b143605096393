// Dividing filter bits among the sorted runs of a live tree, in microseconds.
//
// PlanLevels searches by exact rates, which takes milliseconds. A policy that follows a tree
// divides anew for every table, so here rates come from a curve that is computed once: the rate by
// bits per key of a filter so large that it does not depend on its size. The sum of the rates at a
// given total is least where one more bit lowers all of them equally, that is where the curve's
// slope is in proportion to the run's keys.
//
// The functions throw std::bad_alloc when memory is short, nothing else.
#pragma once

#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::analysis {

// The rate of one kind of filter by bits per key. The rate of a Bloom filter bends where the number
// of probes changes; the curve is the convex hull below it, since a division never stays in a bend.
class RateCurve {
 public:
  // The curve is computed at the first call for a layout, which takes some tens of milliseconds,
  // and kept as long as the process runs.
  static const RateCurve& OfBloom(Layout layout);
  static const RateCurve& OfRibbon();

  // Returns the bits per key, 0 .. kMaxBitsPerKey, at which one more bit lowers the rate by
  // exp(`log_slope`). Zero: not even the first bit is worth it.
  double BitsAtSlope(double log_slope) const;

 private:
  struct Point {
    double bits_per_key;
    double rate;
  };

  explicit RateCurve(const std::vector<Point>& points);
  static RateCurve ComputeBloom(Layout layout);
  static RateCurve ComputeRibbon();

  // In the middle of each segment of the hull.
  std::vector<double> bits_per_key_;
  std::vector<double> log_slopes_;  // falling
};

// Sorted runs of equal size.
struct EqualRuns {
  double keys = 0.0;   // of each run, above zero
  double count = 1.0;  // of runs, above zero
  const RateCurve* curve = nullptr;
  // By how much the filter's bits per key exceed those of the curve for the same rate: Ribbon
  // filters take more the more keys they have.
  double overhead = 1.0;
};

// Returns bits per key for each element, so that the sum of the rates is least and `total_bits` are
// used, up to kMaxBitsPerKey for each.
//   total_bits   0 or more
// Precision: the sum of the exact rates is within 1% of PlanLevels' for runs of a thousand keys or
// more, 2% with a Ribbon filter. Time: 50 evaluations of the curve per element.
std::vector<double> DivideAmongRuns(const std::vector<EqualRuns>& runs, double total_bits);

// How many bits per key a Ribbon filter of `keys` keys takes for one of RateCurve::OfRibbon.
double RibbonOverheadOfCurve(double keys);

}  // namespace exactbloom::analysis
