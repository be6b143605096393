#include "exactbloom/rate_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scaled_rate.h"

namespace exactbloom {
namespace {

// base^exponent; faster than std::pow, and sizing calls it often.
double Power(double base, int exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

// 1 - (1 - share)^count.
double Covered(double share, double count) {
  return count == 0.0 ? 0.0 : -std::expm1(count * std::log1p(-std::min(1.0, share)));
}

}  // namespace

std::optional<Interval> FalsePositiveRateBounds(BloomKind kind, std::uint64_t bits,
                                                std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return std::nullopt;
  const auto m = static_cast<double>(bits);
  const auto n = static_cast<double>(keys);
  const double fill = Covered(probes / m, n);
  const double upper = Power(fill, probes);
  if (keys == 0) return Interval{0.0, 0.0};
  if (kind == BloomKind::kStandard) {
    return Interval{Power(Covered(1.0 / m, n * probes), probes), upper};
  }
  const double mean = m * fill;
  double lower = 1.0;
  for (int i = 0; i < probes; ++i) lower *= std::max(0.0, mean - i) / (m - i);
  return Interval{lower, upper};
}

double BloomRate(std::uint64_t bits, std::uint64_t keys, int probes) {
  const auto bounds = FalsePositiveRateBounds(BloomKind::kStandard, bits, keys, probes);
  return bounds ? bounds->high : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace exactbloom
