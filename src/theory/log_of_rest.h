// The logarithm of what is left of a whole.
#pragma once

#include <cmath>

namespace exactbloom::analysis {

// ln(1 - part/whole). Near a full filter part/whole has lost the digits of the rest, and whole -
// part still has them.
inline double LogOfRest(double part, double whole) {
  return 2.0 * part <= whole ? std::log1p(-part / whole) : std::log((whole - part) / whole);
}

}  // namespace exactbloom::analysis
