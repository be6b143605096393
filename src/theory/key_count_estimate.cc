#include "exactbloom/theory/key_count_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../analysis/scaled_rate.h"
#include "exactbloom/theory/occupancy.h"
#include "size_distribution.h"

namespace exactbloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsFill(BloomKind kind, std::uint64_t bits, std::uint64_t ones, int probes) {
  return analysis::IsGeometry(kind, bits, 0, probes) && bits >= 2 && ones <= bits &&
         static_cast<std::uint64_t>(probes) < bits;
}

bool IsQuantile(double z) { return z >= 0.0 && z < kInfinity; }

// What keys do to the zeros of a filter.
class KeyEffect {
 public:
  KeyEffect(BloomKind kind, std::uint64_t bits, int probes)
      : kind_(kind), bits_(bits), probes_(probes), m_(static_cast<double>(bits)) {
    // A classic key is one committee of k bits, a standard one is k committees of one.
    const double size = kind == BloomKind::kClassic ? probes : 1.0;
    const double count = kind == BloomKind::kClassic ? 1.0 : probes;
    log_zero_ = count * std::log1p(-size / m_);
    // V_2 / V_1^2 = (1 - size / ((m-1)(m-size)))^count
    log_pair_ = count * std::log1p(-size / ((m_ - 1.0) * (m_ - size)));
  }

  // The keys after which `ones` ones are expected.
  double Keys(double ones) const {
    return ones >= m_ ? kInfinity : std::log1p(-ones / m_) / log_zero_;
  }

  // The ones expected less `ones`, from the smaller one of ones and zeros.
  double ExpectedBeyond(double ones, double keys) const {
    return 2.0 * ones <= m_ ? -m_ * std::expm1(keys * log_zero_) - ones
                            : (m_ - ones) - m_ * std::exp(keys * log_zero_);
  }

  // The standard deviation of the ones, in between whole numbers of keys by interpolation.
  double Deviation(double keys) const {
    const double below = std::floor(keys);
    const double part = keys - below;
    const double deviation = WholeDeviation(below);
    return part > 0.0 ? (1.0 - part) * deviation + part * WholeDeviation(below + 1.0) : deviation;
  }

  // The keys at which the expected ones, and z deviations more, reach `ones`.
  double KeysReaching(double ones, double z) const {
    const auto reached = [&](double keys) {
      return ExpectedBeyond(ones, keys) + z * Deviation(keys) >= 0.0;
    };
    double low = 0.0;
    double high = 1.0;
    while (!reached(high)) {
      low = high;
      high *= 2.0;
      if (high > static_cast<double>(analysis::kMaxCount)) return kInfinity;
    }
    while (high - low > 1e-12 * high) {
      const double middle = low + (high - low) / 2.0;
      (reached(middle) ? high : low) = middle;
    }
    return high;
  }

  // The logarithm of the normal density of the ones.
  double LogDensity(double ones, double keys) const {
    const double deviation = Deviation(keys);
    const double distance = ExpectedBeyond(ones, keys) / deviation;
    return -0.5 * distance * distance - std::log(deviation);
  }

  // The variance of the estimate of the keys that two filters share: see the header.
  double SharedVariance(double shared, double first_alone, double second_alone) const {
    const double deviation = Deviation(shared) / m_ * std::exp(-shared * log_zero_);
    const double of_zeros = std::exp(-shared * log_zero_) * std::expm1(-first_alone * log_zero_) *
                            std::expm1(-second_alone * log_zero_) / m_;
    const double of_pairs = (1.0 - 1.0 / m_) * std::exp(shared * log_pair_) *
                            std::expm1(first_alone * log_pair_) *
                            std::expm1(second_alone * log_pair_);
    return (deviation * deviation + of_zeros + of_pairs) / (log_zero_ * log_zero_);
  }

 private:
  double WholeDeviation(double keys) const {
    return std::sqrt(
        MomentsOfOnes(kind_, bits_, static_cast<std::uint64_t>(keys), probes_)->variance);
  }

  BloomKind kind_;
  std::uint64_t bits_;
  int probes_;
  double m_;
  double log_zero_;  // of V_1
  double log_pair_;  // of V_2 / V_1^2
};

// The whole number of keys with the highest density, which is at most a few keys from the estimate
// by moments; fewer than `ones` / k cannot set so many bits.
std::uint64_t DensestKeys(const KeyEffect& effect, std::uint64_t ones, int probes) {
  const auto k = static_cast<std::uint64_t>(probes);
  const auto x = static_cast<double>(ones);
  const std::uint64_t least = (ones + k - 1) / k;
  const auto density = [&](std::uint64_t n) {
    return effect.LogDensity(x, static_cast<double>(n));
  };
  std::uint64_t keys = std::max(least, static_cast<std::uint64_t>(std::llround(effect.Keys(x))));
  while (density(keys + 1) > density(keys)) ++keys;
  while (keys > least && density(keys - 1) >= density(keys)) --keys;
  return keys;
}

// Adds keys one by one and watches P(X = ones).
std::uint64_t LikeliestKeys(BloomKind kind, std::uint64_t bits, std::uint64_t ones, int probes,
                            double most) {
  const auto m = static_cast<double>(bits);
  analysis::SizeDistribution distribution(0);
  std::uint64_t best = 0;
  double likelihood = 0.0;
  for (std::uint64_t keys = 1; static_cast<double>(keys) <= most; ++keys) {
    for (int drawn = 0; drawn < probes; ++drawn) {
      distribution.DrawBit(m, kind == BloomKind::kClassic ? drawn : 0.0);
    }
    const double now = distribution.At(ones);
    if (now > likelihood) {
      best = keys;
      likelihood = now;
    }
  }
  return best;
}

}  // namespace

std::optional<KeyCountEstimate> EstimateKeys(BloomKind kind, std::uint64_t bits, std::uint64_t ones,
                                             int probes, double z) {
  if (!IsFill(kind, bits, ones, probes) || !IsQuantile(z)) return std::nullopt;
  if (ones == 0) return KeyCountEstimate{0.0, {0.0, 0.0}};
  const KeyEffect effect(kind, bits, probes);
  const auto x = static_cast<double>(ones);
  const double keys = effect.Keys(x);
  if (z == 0.0) return KeyCountEstimate{keys, {keys, keys}};
  const double high = ones == bits ? kInfinity : effect.KeysReaching(x, -z);
  return KeyCountEstimate{keys, {effect.KeysReaching(x, z), high}};
}

double SwamidassBaldiKeys(std::uint64_t bits, std::uint64_t ones, int probes) {
  if (!IsFill(BloomKind::kStandard, bits, ones, probes)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto m = static_cast<double>(bits);
  return -m / probes * std::log1p(-static_cast<double>(ones) / m);
}

std::optional<std::uint64_t> MaximumLikelihoodKeys(BloomKind kind, std::uint64_t bits,
                                                   std::uint64_t ones, int probes) {
  if (!IsFill(kind, bits, ones, probes) || ones == bits) return std::nullopt;
  if (ones == 0) return 0;
  const auto k = static_cast<std::uint64_t>(probes);
  if (kind == BloomKind::kClassic && ones < k) return std::nullopt;
  // One key gives these for certain.
  if (ones == k && (kind == BloomKind::kClassic || k == 1)) return 1;
  const KeyEffect effect(kind, bits, probes);
  if (bits > kMaxExactLikelihoodBits) return DensestKeys(effect, ones, probes);
  const double most = effect.KeysReaching(static_cast<double>(ones), -4.0) + 2.0;
  return LikeliestKeys(kind, bits, ones, probes, most);
}

std::optional<KeyCountEstimate> EstimateSharedKeys(BloomKind kind, std::uint64_t bits,
                                                   std::uint64_t ones_first,
                                                   std::uint64_t ones_second,
                                                   std::uint64_t ones_union, int probes, double z) {
  if (!IsFill(kind, bits, ones_union, probes) || !IsQuantile(z) || ones_union == bits) {
    return std::nullopt;
  }
  const bool possible = ones_first <= ones_union && ones_second <= ones_union &&
                        ones_union <= ones_first + ones_second;
  if (!possible) return std::nullopt;
  const KeyEffect effect(kind, bits, probes);
  const double first = effect.Keys(static_cast<double>(ones_first));
  const double second = effect.Keys(static_cast<double>(ones_second));
  const double uncut = first + second - effect.Keys(static_cast<double>(ones_union));
  const double shared = std::clamp(uncut, 0.0, std::min(first, second));
  const double half = z * std::sqrt(effect.SharedVariance(shared, first - shared, second - shared));
  // The filters' own numbers of keys are estimates, too, and bound nothing.
  return KeyCountEstimate{shared, {std::max(0.0, uncut - half), std::max(0.0, uncut + half)}};
}

}  // namespace exactbloom
