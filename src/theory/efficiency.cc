#include "exactbloom/theory/efficiency.h"

#include <limits>

#include "exactbloom/false_positive_rate.h"

namespace exactbloom {

double Efficiency(FilterKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  if (keys == 0) return std::numeric_limits<double>::quiet_NaN();
  const double log2_rate = Log2FalsePositiveRate(kind, bits, keys, probes);
  return -static_cast<double>(keys) * log2_rate / static_cast<double>(bits);
}

}  // namespace exactbloom
