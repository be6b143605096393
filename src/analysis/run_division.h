// Dividing filter bits among the sorted runs of a tree, in microseconds.
//
// The sum of the rates at a given total is least where one more bit lowers all of them equally, so
// where the slope of the rate by bits per key is in proportion to the run's keys. Rates come from a
// curve that is computed once: those of a filter so large that they do not depend on its size.
//
// The functions throw std::bad_alloc when memory is short, nothing else.
#pragma once

#include <vector>

namespace exactbloom::analysis {

// Sorted runs of equal size.
struct EqualRuns {
  double keys = 0.0;    // of each run, above zero
  double count = 1.0;   // of runs, above zero
  bool ribbon = false;  // the kind of their filters: Ribbon, or Bloom
};

// Returns the rate of a Ribbon filter of ExactBloom: from 1 bit per key on within 0.2% that
// of one of a million keys or more. One of 20,000 keys has a rate up to 6% higher, of 1,000 keys
// 50%.
double LargeRibbonRate(double bits_per_key);

// Returns bits per key for each element, so that the sum of the rates is least and `total_bits` are
// used, up to kMaxBitsPerKey for each.
//   total_bits   0 or more
// Precision: the sum of the exact rates is within 2% of the least for runs of a thousand keys or
// more, of either kind. Time: 28 evaluations of the curve per element. The curve is computed at the
// first call, in less than a millisecond, and kept as long as the process runs.
std::vector<double> DivideAmongRuns(const std::vector<EqualRuns>& runs, double total_bits);

}  // namespace exactbloom::analysis
