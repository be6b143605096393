#include "exactbloom/theory/key_count_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "../analysis/scaled_rate.h"
#include "exactbloom/theory/occupancy.h"
#include "size_growth.h"

namespace exactbloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The effect of the bits of a key on given bits of their range, which are all zeros before.
struct WordEffect {
  WordEffect(FilterKind kind, double range_bits, int probes) {
    // A classic word is one committee of k bits, a standard one is k committees of one.
    const double size = kind == FilterKind::kClassic ? probes : 1.0;
    const double count = kind == FilterKind::kClassic ? 1.0 : probes;
    log_zero = count * std::log1p(-size / range_bits);
    // V_2 / V_1^2 = (1 - size / ((m-1)(m-size)))^count
    log_pair = count * std::log1p(-size / ((range_bits - 1.0) * (range_bits - size)));
  }

  double Hit() const { return -std::expm1(log_zero); }
  // Both of two bits: 1 - 2 V_1 + V_2.
  double HitBoth() const { return Hit() * Hit() + std::exp(2.0 * log_zero) * std::expm1(log_pair); }

  double log_zero;
  double log_pair;
};

// The logarithms of what one key does to zeros.
class KeyEffect {
 public:
  KeyEffect(Layout layout, std::uint64_t bits, int probes) : m(static_cast<double>(bits)) {
    if (!layout.InLines()) {
      const WordEffect word(layout.kind, m, probes);
      log_zero = word.log_zero;
      pairs_[0] = {1.0 - 1.0 / m, word.log_pair};
    } else {
      SetLines({layout.kind, kLineBits, probes}, m / kLineBits);
    }
  }

  double Keys(double ones) const {
    return ones >= m ? kInfinity : std::log1p(-ones / m) / log_zero;
  }

  double ExpectedOnes(double keys) const { return -m * std::expm1(keys * log_zero); }

  // The variance of the logarithm of the share of zeros.
  double LogVariance(double keys) const {
    double variance = std::expm1(-keys * log_zero) / m;
    for (const Pairs& pairs : pairs_) variance += pairs.share * std::expm1(keys * pairs.log_pair);
    return std::max(0.0, variance);
  }

  double Deviation(double keys) const {
    return std::sqrt(LogVariance(keys)) * m * std::exp(keys * log_zero);
  }

  double m;
  double log_zero;

 private:
  // A share of all ordered pairs of bits (a bit and itself included) with the same V_2.
  struct Pairs {
    double share = 0.0;
    double log_pair = 0.0;  // of V_2 / V_1^2
  };

  // A key draws each of the lines with probability 1 / lines, and two bits of different lines never
  // both.
  void SetLines(const WordEffect& word, double lines) {
    const double hit = word.Hit() / lines;
    log_zero = std::log1p(-hit);
    const auto pairs = [&](double share, double hit_both) -> Pairs {
      return {share, std::log1p((hit_both - hit * hit) / ((1.0 - hit) * (1.0 - hit)))};
    };
    pairs_[0] = pairs((kLineBits - 1.0) / m, word.HitBoth() / lines);
    pairs_[1] = pairs(1.0 - 1.0 / lines, 0.0);
  }

  std::array<Pairs, 2> pairs_;
};

bool IsValid(Layout layout, std::uint64_t bits, std::uint64_t ones, int probes, double z) {
  return analysis::IsGeometry(layout, bits, 0, probes) && bits >= 2 && ones <= bits &&
         static_cast<std::uint64_t>(probes) < bits && z >= 0.0 && z < kInfinity;
}

// The number of keys at which the expected ones, `z` deviations added, reach `ones`.
double KeysAt(const KeyEffect& key, double ones, double z) {
  const auto reached = [&](double keys) {
    return key.ExpectedOnes(keys) + z * key.Deviation(keys) >= ones;
  };
  double low = 0.0;
  double high = 1.0;
  while (!reached(high)) {
    low = high;
    high *= 2.0;
    if (high > static_cast<double>(analysis::kMaxCount)) return kInfinity;
  }
  for (int step = 0; step < 100 && high - low > 1e-9 * high; ++step) {
    const double middle = low + (high - low) / 2.0;
    (reached(middle) ? high : low) = middle;
  }
  return high;
}

double LogDensity(const KeyEffect& key, double ones, double keys) {
  const double deviation = key.Deviation(keys);
  const double distance = (ones - key.ExpectedOnes(keys)) / deviation;
  return -0.5 * distance * distance - std::log(deviation);
}

// The whole number of keys with the highest density, which is at most a few keys from `near`.
std::uint64_t DensestKeys(const KeyEffect& key, double ones, double near) {
  auto keys = static_cast<std::uint64_t>(std::max(2.0, std::round(near)));
  const auto density = [&](std::uint64_t n) {
    return LogDensity(key, ones, static_cast<double>(n));
  };
  while (density(keys + 1) > density(keys)) ++keys;
  while (keys > 2 && density(keys - 1) >= density(keys)) --keys;
  return keys;
}

// Adds keys one by one and watches P(X = ones).
std::optional<std::uint64_t> LikeliestKeys(FilterKind kind, std::uint64_t bits, std::uint64_t ones,
                                           int probes, std::uint64_t most) {
  const auto m = static_cast<double>(bits);
  analysis::SizeDistribution distribution(0);
  std::uint64_t best = 0;
  double likelihood = 0.0;
  for (std::uint64_t keys = 1; keys <= most; ++keys) {
    for (int drawn = 0; drawn < probes; ++drawn) {
      distribution.DrawBit(m, kind == FilterKind::kClassic ? drawn : 0.0);
    }
    const double now = distribution.Result().At(ones);
    if (now > likelihood) {
      best = keys;
      likelihood = now;
    }
  }
  return likelihood > 0.0 ? std::optional(best) : std::nullopt;
}

}  // namespace

std::optional<KeyCountEstimate> EstimateKeys(Layout layout, std::uint64_t bits, std::uint64_t ones,
                                             int probes, double z) {
  if (!IsValid(layout, bits, ones, probes, z)) return std::nullopt;
  if (ones == 0) return KeyCountEstimate{0.0, {0.0, 0.0}};
  const KeyEffect key(layout, bits, probes);
  const auto x = static_cast<double>(ones);
  const double high = ones == bits ? kInfinity : KeysAt(key, x, -z);
  return KeyCountEstimate{key.Keys(x), {KeysAt(key, x, z), high}};
}

std::optional<std::uint64_t> MaximumLikelihoodKeys(FilterKind kind, std::uint64_t bits,
                                                   std::uint64_t ones, int probes) {
  if (!IsValid(kind, bits, ones, probes, 0.0) || ones == bits) return std::nullopt;
  if (ones == 0) return 0;
  const KeyEffect key(kind, bits, probes);
  const auto x = static_cast<double>(ones);
  if (bits > kMaxExactLikelihoodBits) return DensestKeys(key, x, key.Keys(x));
  const double most = KeysAt(key, x, -4.0) + 2.0;
  return LikeliestKeys(kind, bits, ones, probes, static_cast<std::uint64_t>(most));
}

std::optional<KeyCountEstimate> EstimateSharedKeys(Layout layout, std::uint64_t bits,
                                                   std::uint64_t ones_first,
                                                   std::uint64_t ones_second,
                                                   std::uint64_t ones_union, int probes, double z) {
  if (!IsValid(layout, bits, ones_union, probes, z) || ones_union == bits) return std::nullopt;
  const bool possible =
      std::max(ones_first, ones_second) <= ones_union && ones_union <= ones_first + ones_second;
  if (!possible) return std::nullopt;
  const KeyEffect key(layout, bits, probes);
  const double first = key.Keys(static_cast<double>(ones_first));
  const double second = key.Keys(static_cast<double>(ones_second));
  const double both = key.Keys(static_cast<double>(ones_union));
  const double uncut = first + second - both;
  const double shared = std::clamp(uncut, 0.0, std::min(first, second));
  const double log_variance = key.LogVariance(both) + 2.0 * key.LogVariance(shared) -
                              key.LogVariance(first) - key.LogVariance(second);
  const double deviation = std::sqrt(std::max(0.0, log_variance)) / -key.log_zero;
  // The filters' own numbers of keys are estimates, too, and bound nothing.
  return KeyCountEstimate{
      shared, {std::max(0.0, uncut - z * deviation), std::max(0.0, uncut + z * deviation)}};
}

}  // namespace exactbloom
