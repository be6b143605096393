#include "exactbloom/theory/confidence_interval.h"

#include <algorithm>
#include <cmath>

namespace exactbloom {

std::optional<Interval> WilsonInterval(std::uint64_t successes, std::uint64_t trials, double z,
                                       double dispersion) {
  const bool in_range = successes <= trials && z >= 0.0 && std::isfinite(z) && dispersion >= 1.0 &&
                        std::isfinite(dispersion);
  if (!in_range) return std::nullopt;
  if (trials == 0) return Interval{0.0, 1.0};
  const double rate = static_cast<double>(successes) / static_cast<double>(trials);
  const double q = z / static_cast<double>(trials) * dispersion * z;
  if (!std::isfinite(q)) return Interval{0.0, 1.0};
  const double center = (rate + q / 2.0) / (1.0 + q);
  const double half = std::sqrt(rate * (1.0 - rate) * q + q * q / 4.0) / (1.0 + q);
  // At an end of the range the interval ends there, too; rounding must not change that, nor exclude
  // the rate.
  return Interval{successes == 0 ? 0.0 : std::clamp(center - half, 0.0, rate),
                  successes == trials ? 1.0 : std::clamp(center + half, rate, 1.0)};
}

}  // namespace exactbloom
