#include "exactbloom/theory/efficiency.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../analysis/sizing_search.h"
#include "exactbloom/false_positive_rate.h"
#include "log_of_rest.h"

namespace exactbloom {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;

// Up to so many ones log2 C(m, k) is summed; beyond, Stirling's series has all digits of double.
constexpr std::uint64_t kSummedOnes = 1000;

bool IsCount(std::uint64_t count) { return count >= 1 && count <= analysis::kMaxCount; }

bool HasValley(std::uint64_t bits, int probes) {
  return IsCount(bits) && probes >= 1 && probes < kMaxAnalysisProbes &&
         static_cast<std::uint64_t>(probes) + 1 < bits;
}

// ln of Bloom's formula, for any real number of keys.
double LogBloomRate(double bits, double keys, int probes) {
  return probes * std::log(-std::expm1(keys * std::log1p(-probes / bits)));
}

// ln(n!) less (n + 1/2) ln(n) - n + ln(2 pi) / 2, for large n.
double StirlingRest(double n) { return (1.0 / 12.0 - 1.0 / (360.0 * n * n)) / n; }

}  // namespace

double Efficiency(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  if (keys == 0) return kNotANumber;
  const double log2_rate = Log2FalsePositiveRate(kind, bits, keys, probes);
  // At a rate of one 0 and not -0.
  return 0.0 - static_cast<double>(keys) * log2_rate / static_cast<double>(bits);
}

double EfficientKeys(std::uint64_t bits, std::uint64_t probes) {
  if (!IsCount(bits) || probes < 1 || probes >= bits) return kNotANumber;
  return -kLn2 / analysis::LogOfRest(static_cast<double>(probes), static_cast<double>(bits));
}

double EfficientProbes(std::uint64_t bits, std::uint64_t keys) {
  if (!IsCount(bits) || !IsCount(keys)) return kNotANumber;
  return -static_cast<double>(bits) * std::expm1(-kLn2 / static_cast<double>(keys));
}

std::optional<EfficiencyPeak> PeakEfficiency(BloomKind kind, std::uint64_t bits, int probes) {
  const auto k = static_cast<std::uint64_t>(probes);
  if (!analysis::IsGeometry(kind, bits, 1, probes) || k >= bits) return std::nullopt;
  const auto at = [&](std::uint64_t keys) -> EfficiencyPeak {
    return {keys, k, Efficiency(kind, bits, keys, probes)};
  };
  const double guess = std::max(1.0, std::round(EfficientKeys(bits, k)));
  EfficiencyPeak peak = at(static_cast<std::uint64_t>(guess));
  for (const bool up : {true, false}) {
    while (up || peak.keys > 1) {
      const EfficiencyPeak next = at(up ? peak.keys + 1 : peak.keys - 1);
      if (!(next.efficiency > peak.efficiency)) break;
      peak = next;
    }
  }
  return peak;
}

std::optional<EfficiencyPeak> MaximumEfficiency(BloomKind kind, std::uint64_t bits) {
  const auto one_probe = PeakEfficiency(kind, bits, 1);
  if (kind == BloomKind::kStandard || !one_probe) return one_probe;
  const std::uint64_t half = bits / 2;
  const double one_key = LosslessCodeBits(bits, half) / static_cast<double>(bits);
  return one_key >= one_probe->efficiency ? EfficiencyPeak{1, half, one_key} : one_probe;
}

// The logarithm of the ratio of the rates of k and k + 1 probes falls through zero there.
double ApproximateValley(std::uint64_t bits, int probes) {
  if (!HasValley(bits, probes)) return kNotANumber;
  const auto m = static_cast<double>(bits);
  const auto more_probes_win = [&](double keys) {
    return LogBloomRate(m, keys, probes + 1) < LogBloomRate(m, keys, probes);
  };
  double low = 0.25 * kLn2 * m / (probes + 1);
  while (!more_probes_win(low)) low /= 2.0;  // where k is near m
  double high = 4.0 * kLn2 * m / probes;
  while (high - low > 1e-13 * high) {
    const double middle = low + (high - low) / 2.0;
    (more_probes_win(middle) ? low : high) = middle;
  }
  return high;
}

std::optional<std::uint64_t> ExactValley(BloomKind kind, std::uint64_t bits, int probes) {
  if (!HasValley(bits, probes)) return std::nullopt;
  const auto fewer_win = [&](std::uint64_t keys) {
    // The rate of one key is 1 / C(m, k) or 1 / C(m, k + 1), which may be the same.
    if (keys == 1 && kind == BloomKind::kClassic) {
      return 2 * static_cast<std::uint64_t>(probes) + 1 >= bits;
    }
    return Log2FalsePositiveRate(kind, bits, keys, probes) <=
           Log2FalsePositiveRate(kind, bits, keys, probes + 1);
  };
  const auto guess = static_cast<std::uint64_t>(ApproximateValley(bits, probes));
  return analysis::LeastUpTo(analysis::kMaxCount, guess, fewer_win);
}

double EntropyBits(std::uint64_t bits, std::uint64_t ones) {
  if (!IsCount(bits) || ones > bits) return kNotANumber;
  if (ones == 0 || ones == bits) return 0.0;
  const auto m = static_cast<double>(bits);
  const auto fewer = static_cast<double>(std::min(ones, bits - ones));
  return -(fewer * std::log2(fewer / m) + (m - fewer) * std::log1p(-fewer / m) / kLn2);
}

// By Stirling's formula C(m, x) is 2^(m H(x/m)) sqrt(m / (2 pi x (m - x))) times a factor near one.
// Where x is small the root would take digits, and the factors of C(m, x) are few.
double LosslessCodeBits(std::uint64_t bits, std::uint64_t ones) {
  const double entropy = EntropyBits(bits, ones);
  if (!(entropy > 0.0)) return entropy;
  const auto m = static_cast<double>(bits);
  const std::uint64_t fewer = std::min(ones, bits - ones);
  const auto x = static_cast<double>(fewer);
  if (fewer > kSummedOnes) {
    const double rest = StirlingRest(m) - StirlingRest(x) - StirlingRest(m - x);
    return entropy + (0.5 * std::log(m / x / (m - x) / (2.0 * kPi)) + rest) / kLn2;
  }
  double sum = 0.0;
  for (std::uint64_t i = 0; i < fewer; ++i) {
    const auto taken = static_cast<double>(i);
    sum += std::log2((m - taken) / (x - taken));
  }
  return sum;
}

}  // namespace exactbloom
