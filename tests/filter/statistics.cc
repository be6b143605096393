#include "statistics.h"

#include <cmath>
#include <numeric>

namespace exactbloom {
namespace {

// The logarithms of V_1, the probability that a given bit stays zero, and of V_2 / V_1^2, by which
// two bits depend on each other.
struct ZeroLogarithms {
  double one = 0.0;
  double dependence = 0.0;
};

ZeroLogarithms LogarithmsOf(const Geometry& geometry) {
  const auto m = static_cast<double>(geometry.bits);
  const auto n = static_cast<double>(geometry.keys);
  const auto k = static_cast<double>(geometry.probes);
  if (geometry.kind == FilterKind::kClassic) {
    return {n * std::log1p(-k / m), n * std::log1p(-k / ((m - 1) * (m - k)))};
  }
  return {n * k * std::log1p(-1 / m), n * k * std::log1p(-1 / ((m - 1) * (m - 1)))};
}

}  // namespace

Moments OnesMoments(const Geometry& geometry) {
  const auto m = static_cast<double>(geometry.bits);
  const ZeroLogarithms logarithms = LogarithmsOf(geometry);
  const double zero = std::exp(logarithms.one);
  const double one = -std::expm1(logarithms.one);
  return {m * one, m * zero * one + m * (m - 1) * zero * zero * std::expm1(logarithms.dependence)};
}

double RateVariance(const Geometry& geometry) {
  const auto m = static_cast<double>(geometry.bits);
  const Moments ones = OnesMoments(geometry);
  double rate = 1.0;
  double logarithmic_slope = 0.0;
  for (int i = 0; i < geometry.probes; ++i) {
    const double taken = geometry.kind == FilterKind::kClassic ? i : 0;
    rate *= (ones.mean - taken) / (m - taken);
    logarithmic_slope += 1 / (ones.mean - taken);
  }
  const double slope = rate * logarithmic_slope;
  return slope * slope * ones.variance;
}

Interval ChiSquareInterval(double degrees_of_freedom, double z) {
  const double spread = 2 / (9 * degrees_of_freedom);
  const auto quantile = [&](double normal) {
    return degrees_of_freedom * std::pow(1 - spread + normal * std::sqrt(spread), 3);
  };
  return {quantile(-z), quantile(z)};
}

double ChiSquareOfUniform(const std::vector<std::uint64_t>& counts) {
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  const double expected = total / static_cast<double>(counts.size());
  return std::accumulate(counts.begin(), counts.end(), 0.0, [&](double sum, std::uint64_t count) {
    const double difference = static_cast<double>(count) - expected;
    return sum + difference * difference / expected;
  });
}

}  // namespace exactbloom
