#include "exactbloom/theory/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../analysis/scaled_rate.h"
#include "exactbloom/layout.h"
#include "exactbloom/theory/occupancy.h"

namespace exactbloom {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

bool IsStandardFilter(std::uint64_t bits, std::uint64_t keys, int probes) {
  return analysis::IsGeometry(BloomKind::kStandard, bits, keys, probes);
}

}  // namespace

double GoelGuptaBound(std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!IsStandardFilter(bits, keys, probes)) return kNotANumber;
  if (keys == 0) return 0.0;
  if (bits == 1) return 1.0;
  const double load =
      probes * (static_cast<double>(keys) + 0.5) / (static_cast<double>(bits) - 1.0);
  return std::pow(-std::expm1(-load), probes);
}

double SecondOrderRate(std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!IsStandardFilter(bits, keys, probes)) return kNotANumber;
  if (keys == 0) return 0.0;
  const auto ones = MomentsOfOnes(BloomKind::kStandard, bits, keys, probes);
  const double pairs = 0.5 * probes * (probes - 1);
  return std::pow(ones->mean / static_cast<double>(bits), probes) *
         (1.0 + pairs * (ones->variance / ones->mean / ones->mean));
}

double AzumaHoeffdingDeviation(std::uint64_t bits, std::uint64_t keys, int probes,
                               double probability) {
  if (!IsStandardFilter(bits, keys, probes)) return kNotANumber;
  if (!(probability > 0.0 && probability <= 1.0)) return kNotANumber;
  const double draws = static_cast<double>(keys) * probes;
  const double steps = std::min(draws, static_cast<double>(bits));
  return std::sqrt(0.5 * steps * (kLn2 - std::log(probability)));
}

std::optional<Interval> FactorialMomentBounds(BloomKind kind, std::uint64_t bits,
                                              std::uint64_t keys, int probes, int r) {
  if (r < 0 || r > kMaxAnalysisProbes) return std::nullopt;
  const auto ones = MomentsOfOnes(kind, bits, keys, probes);
  if (!ones) return std::nullopt;
  const auto m = static_cast<double>(bits);
  // A factor of zero counts before the others overflow.
  Interval bounds{ones->mean > r - 1 ? 1.0 : 0.0, m > r - 1 ? 1.0 : 0.0};
  for (int i = 0; i < r; ++i) {
    if (bounds.low != 0.0) bounds.low *= ones->mean - i;
    if (bounds.high != 0.0) bounds.high *= (m - i) * (ones->mean / m);
  }
  return bounds;
}

}  // namespace exactbloom
