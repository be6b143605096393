#include "exactbloom/theory/efficiency.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../analysis/sizing_search.h"
#include "exactbloom/false_positive_rate.h"

namespace exactbloom {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

bool IsCount(std::uint64_t count) { return count >= 1 && count <= analysis::kMaxCount; }

bool HasValley(std::uint64_t bits, int probes) {
  return IsCount(bits) && probes >= 1 && probes < kMaxProbes &&
         static_cast<std::uint64_t>(probes) + 1 < bits;
}

// ln of (64), for any real number of keys.
double LogBloomRate(double bits, double keys, int probes) {
  return probes * std::log(-std::expm1(keys * std::log1p(-probes / bits)));
}

// ln(n!) less Stirling's formula, so that the large terms of a binomial coefficient can cancel
// before they are rounded.
double StirlingRest(double n) {
  if (n < 16.0)
    return std::lgamma(n + 1.0) - ((n + 0.5) * std::log(n) - n + 0.5 * std::log(2.0 * M_PI));
  const double square = n * n;
  return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) /
         n;
}

}  // namespace

double Efficiency(Layout layout, std::uint64_t bits, std::uint64_t keys, int probes) {
  if (keys == 0) return kNotANumber;
  const double log2_rate = Log2FalsePositiveRate(layout, bits, keys, probes);
  return -static_cast<double>(keys) * log2_rate / static_cast<double>(bits);
}

double EfficientKeys(std::uint64_t bits, std::uint64_t probes) {
  if (!IsCount(bits) || probes < 1 || probes >= bits) return kNotANumber;
  return -kLn2 / std::log1p(-static_cast<double>(probes) / static_cast<double>(bits));
}

double EfficientProbes(std::uint64_t bits, std::uint64_t keys) {
  if (!IsCount(bits) || !IsCount(keys)) return kNotANumber;
  return -static_cast<double>(bits) * std::expm1(-kLn2 / static_cast<double>(keys));
}

// The logarithm of the ratio of the rates of k and k + 1 probes falls through zero there.
double ApproximateValley(std::uint64_t bits, int probes) {
  if (!HasValley(bits, probes)) return kNotANumber;
  const auto m = static_cast<double>(bits);
  double low = 0.25 * kLn2 * m / (probes + 1);
  double high = 4.0 * kLn2 * m / probes;
  while (high - low > 1e-12 * high) {
    const double middle = low + (high - low) / 2.0;
    if (middle <= low || middle >= high) break;
    const bool more_probes_win =
        LogBloomRate(m, middle, probes + 1) < LogBloomRate(m, middle, probes);
    (more_probes_win ? low : high) = middle;
  }
  return high;
}

std::uint64_t ExactValley(FilterKind kind, std::uint64_t bits, int probes) {
  if (!HasValley(bits, probes)) return 0;
  const auto fewer_win = [&](std::uint64_t keys) {
    return Log2FalsePositiveRate(kind, bits, keys, probes) <=
           Log2FalsePositiveRate(kind, bits, keys, probes + 1);
  };
  const auto guess = static_cast<std::uint64_t>(ApproximateValley(bits, probes));
  return analysis::LeastUpTo(analysis::kMaxCount, guess, fewer_win).value_or(0);
}

EfficiencyPeak MaximumEfficiency(FilterKind kind, std::uint64_t bits) {
  if (!IsCount(bits) || bits < 2) return {0, 0, kNotANumber};
  const auto below = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(EfficientKeys(bits, 1)));
  EfficiencyPeak best;
  for (const std::uint64_t keys : {below, below + 1}) {
    const double efficiency = Efficiency(kind, bits, keys, 1);
    if (efficiency > best.efficiency) best = {keys, 1, efficiency};
  }
  if (kind == FilterKind::kClassic) {
    const std::uint64_t probes = bits / 2;
    const double one_key = LosslessCodeBits(bits, probes) / static_cast<double>(bits);
    if (one_key > best.efficiency) best = {1, probes, one_key};
  }
  return best;
}

double EntropyBits(std::uint64_t bits, std::uint64_t ones) {
  if (!IsCount(bits) || ones > bits) return kNotANumber;
  if (ones == 0 || ones == bits) return 0.0;
  const auto m = static_cast<double>(bits);
  const auto x = static_cast<double>(ones);
  return -(x * std::log2(x / m) + (m - x) * std::log1p(-x / m) / kLn2);
}

// By Stirling's formula, C(m, x) = 2^(m H(x/m)) sqrt(m / (2 pi x (m - x))) times a factor near one.
double LosslessCodeBits(std::uint64_t bits, std::uint64_t ones) {
  const double entropy = EntropyBits(bits, ones);
  if (!(entropy > 0.0)) return entropy;
  const auto m = static_cast<double>(bits);
  const auto x = static_cast<double>(ones);
  const double rest = StirlingRest(m) - StirlingRest(x) - StirlingRest(m - x);
  return entropy + (0.5 * std::log(m / x / (m - x) / (2.0 * M_PI)) + rest) / kLn2;
}

}  // namespace exactbloom
