#include "exactbloom/theory/key_count_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../analysis/sizing_search.h"
#include "exactbloom/theory/occupancy.h"
#include "likelihood_of_ones.h"
#include "log_of_rest.h"

namespace exactbloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsGeometry(BloomKind kind, std::uint64_t bits, int probes) {
  return analysis::IsGeometry(kind, bits, 0, probes) && bits >= 2 &&
         static_cast<std::uint64_t>(probes) < bits;
}

// Whether some number of keys gives so many ones.
bool IsFill(BloomKind kind, std::uint64_t bits, std::uint64_t ones, int probes) {
  if (!IsGeometry(kind, bits, probes) || ones > bits) return false;
  return kind == BloomKind::kStandard || ones == 0 || ones >= static_cast<std::uint64_t>(probes);
}

bool IsQuantile(double z) { return z >= 0.0 && z < kInfinity; }

bool IsCount(double keys) { return keys <= static_cast<double>(analysis::kMaxCount); }

// What keys do to the zeros of a filter.
class KeyEffect {
 public:
  KeyEffect(BloomKind kind, std::uint64_t bits, int probes)
      : kind_(kind), bits_(bits), probes_(probes), m_(static_cast<double>(bits)) {
    // A classic key is one committee of k bits, a standard one is k committees of one.
    const double size = kind == BloomKind::kClassic ? probes : 1.0;
    const double count = kind == BloomKind::kClassic ? 1.0 : probes;
    log_zero_ = count * analysis::LogOfRest(size, m_);
    // V_2 / V_1^2 = (1 - size / ((m-1)(m-size)))^count
    log_pair_ = count * analysis::LogOfRest(size, (m_ - 1.0) * (m_ - size));
  }

  // The keys after which `ones` ones are expected.
  double Keys(double ones) const {
    return ones >= m_ ? kInfinity : analysis::LogOfRest(ones, m_) / log_zero_;
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

  // The number of keys, above `least`, from which on the expected ones, and z deviations more,
  // reach `ones`.
  double KeysReaching(double ones, double z, double least) const {
    const auto reached = [&](double keys) {
      return ExpectedBeyond(ones, keys) + z * Deviation(keys) >= 0.0;
    };
    constexpr double kPrecision = 1e-12;
    constexpr auto kMost = static_cast<double>(analysis::kMaxCount);
    double low = least;
    double high = std::min(std::floor(least * (1.0 + kPrecision)) + 1.0, kMost);
    for (double distance = 1.0; !reached(high); distance *= 2.0) {
      if (high == kMost) return kInfinity;
      low = high;
      high = std::min(high + distance, kMost);
    }
    while (high - low > kPrecision * high) {
      const double middle = low + (high - low) / 2.0;
      (reached(middle) ? high : low) = middle;
    }
    return high;
  }

  // The variance of the estimate of the keys that two filters share: see the header.
  double SharedVariance(double shared, double first_alone, double second_alone) const {
    const double deviation = Deviation(shared) / m_ * std::exp(-shared * log_zero_);
    const double of_zeros = std::exp(-shared * log_zero_) * std::expm1(-first_alone * log_zero_) *
                            std::expm1(-second_alone * log_zero_) / m_;
    // No two bits are zeros with a probability of 0, unless there are no keys.
    const auto log_pairs = [this](double keys) { return keys == 0.0 ? 0.0 : keys * log_pair_; };
    const double of_pairs = (1.0 - 1.0 / m_) * std::exp(log_pairs(shared)) *
                            std::expm1(log_pairs(first_alone)) *
                            std::expm1(log_pairs(second_alone));
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

// Whether P(X = ones) does not rise from n keys to n + 1. Where X lies far from those expected the
// mean tells; elsewhere the probabilities do.
class Likelihood {
 public:
  Likelihood(BloomKind kind, std::uint64_t bits, std::uint64_t ones, int probes)
      : effect_(kind, bits, probes), kind_(kind), bits_(bits), ones_(ones), probes_(probes) {}

  bool HasPassed(std::uint64_t n) const {
    constexpr double kFar = 5.0;  // deviations
    const auto keys = static_cast<double>(n);
    const auto x = static_cast<double>(ones_);
    if (effect_.ExpectedBeyond(x, keys) > kFar * effect_.Deviation(keys)) return true;
    const double most = keys + 1.0;
    if (effect_.ExpectedBeyond(x, most) < -kFar * effect_.Deviation(most)) return false;
    return analysis::LikelihoodGain(kind_, bits_, ones_, probes_, n) <= 0.0;
  }

 private:
  KeyEffect effect_;
  BloomKind kind_;
  std::uint64_t bits_;
  std::uint64_t ones_;
  int probes_;
};

}  // namespace

std::optional<KeyCountEstimate> EstimateKeys(BloomKind kind, std::uint64_t bits, std::uint64_t ones,
                                             int probes, double z) {
  if (!IsFill(kind, bits, ones, probes) || !IsQuantile(z)) return std::nullopt;
  const KeyEffect effect(kind, bits, probes);
  const auto x = static_cast<double>(ones);
  const double keys = effect.Keys(x);
  if (ones < bits && !IsCount(keys)) return std::nullopt;
  if (ones == 0 || z == 0.0) return KeyCountEstimate{keys, {keys, keys}};
  const double low = effect.KeysReaching(x, z, 0.0);
  const double high = ones == bits ? kInfinity : effect.KeysReaching(x, -z, keys);
  return KeyCountEstimate{keys, {std::min(low, keys), std::max(high, keys)}};
}

double SwamidassBaldiKeys(std::uint64_t bits, std::uint64_t ones, int probes) {
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  if (!IsFill(BloomKind::kStandard, bits, ones, probes)) return kNotANumber;
  if (ones == bits) return kInfinity;
  const auto m = static_cast<double>(bits);
  const double keys = -m / probes * analysis::LogOfRest(static_cast<double>(ones), m);
  return IsCount(keys) ? keys : kNotANumber;
}

std::optional<std::uint64_t> MaximumLikelihoodKeys(BloomKind kind, std::uint64_t bits,
                                                   std::uint64_t ones, int probes) {
  if (!IsFill(kind, bits, ones, probes) || ones == bits) return std::nullopt;
  if (ones == 0) return 0;
  const auto k = static_cast<std::uint64_t>(probes);
  const std::uint64_t fewer = (ones + k - 1) / k - 1;  // these cannot set so many bits
  const Likelihood likelihood(kind, bits, ones, probes);
  const double guess = KeyEffect(kind, bits, probes).Keys(static_cast<double>(ones));
  if (!IsCount(guess)) return std::nullopt;
  const auto more = analysis::LeastUpTo(
      analysis::kMaxCount - fewer,
      static_cast<std::uint64_t>(std::max(0.0, std::round(guess) - static_cast<double>(fewer))),
      [&](std::uint64_t n) { return likelihood.HasPassed(fewer + n); });
  return more ? std::optional(fewer + *more) : std::nullopt;
}

std::optional<KeyCountEstimate> EstimateSharedKeys(BloomKind kind, std::uint64_t bits,
                                                   std::uint64_t ones_first,
                                                   std::uint64_t ones_second,
                                                   std::uint64_t ones_union, int probes, double z) {
  const bool fills = IsFill(kind, bits, ones_first, probes) &&
                     IsFill(kind, bits, ones_second, probes) &&
                     IsFill(kind, bits, ones_union, probes);
  if (!fills || !IsQuantile(z) || ones_union == bits) return std::nullopt;
  const bool possible = ones_first <= ones_union && ones_second <= ones_union &&
                        ones_union <= ones_first + ones_second;
  if (!possible) return std::nullopt;
  const KeyEffect effect(kind, bits, probes);
  const double first = effect.Keys(static_cast<double>(ones_first));
  const double second = effect.Keys(static_cast<double>(ones_second));
  const double both = effect.Keys(static_cast<double>(ones_union));
  if (!IsCount(both)) return std::nullopt;
  const double uncut = first + second - both;
  const double shared = std::clamp(uncut, 0.0, std::min(first, second));
  const double half = z * std::sqrt(effect.SharedVariance(shared, first - shared, second - shared));
  // The filters' own numbers of keys are estimates, too, and bound nothing.
  const double low = std::clamp(uncut - half, 0.0, shared);
  return KeyCountEstimate{shared, {low, std::max(uncut + half, shared)}};
}

}  // namespace exactbloom
