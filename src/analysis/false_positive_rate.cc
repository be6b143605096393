#include "false_positive_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "exactbloom/false_positive_rate.h"
#include "rate_chain.h"

namespace exactbloom {
namespace analysis {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

ScaledNumber ClassicRate(std::uint64_t bits, std::uint64_t keys, int probes) {
  RateChain chain = RateChain::ForClassicKeys(bits, keys, probes);
  chain.Run();
  return {chain.Absorbed(probes), -probes * chain.ScaleExponent()};
}

// The queried bits of a standard filter may coincide: d of them are distinct with probability
// S(k,d) m^(d) / m^k, built here ball by ball, and entry d carries the factor scale^(k-d) that its
// rate lacks to scale^k.
ScaledNumber StandardRate(std::uint64_t bits, std::uint64_t keys, int probes) {
  RateChain chain = RateChain::ForBalls(bits, keys * static_cast<std::uint64_t>(probes), probes);
  chain.Run();

  const auto m = static_cast<double>(bits);
  std::array<double, kMaxProbes + 1> distinct{};
  distinct[0] = 1.0;
  for (int ball = 1; ball <= probes; ++ball) {
    for (int d = ball; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      const double old_urn = std::ldexp(distinct[i] * (d / m), chain.ScaleExponent());
      const double new_urn = d > 0 ? distinct[i - 1] * std::max(0.0, (m - (d - 1)) / m) : 0.0;
      distinct[i] = old_urn + new_urn;
    }
  }
  double rate = 0.0;
  for (int d = 1; d <= probes; ++d) {
    rate += distinct[static_cast<std::size_t>(d)] * chain.Absorbed(d);
  }
  return {rate, -probes * chain.ScaleExponent()};
}

}  // namespace

double ScaledNumber::Value() const { return std::ldexp(mantissa, exponent); }

double ScaledNumber::Log2() const { return std::log2(mantissa) + exponent; }

bool IsGeometry(FilterKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  if (bits < 1 || bits > kMaxCount || keys > kMaxCount) return false;
  if (probes < 1 || probes > kMaxProbes) return false;
  return kind == FilterKind::kStandard || static_cast<std::uint64_t>(probes) <= bits;
}

ScaledNumber ScaledFalsePositiveRate(FilterKind kind, std::uint64_t bits, std::uint64_t keys,
                                     int probes) {
  if (keys == 0) return {0.0, 0};
  // All bits of the filter are set by any one key.
  if (bits == static_cast<std::uint64_t>(probes) && kind == FilterKind::kClassic) return {1.0, 0};
  if (bits == 1) return {1.0, 0};
  const ScaledNumber rate = kind == FilterKind::kClassic ? ClassicRate(bits, keys, probes)
                                                         : StandardRate(bits, keys, probes);
  return rate.Log2() > 0.0 ? ScaledNumber{1.0, 0} : rate;  // a rounding above one
}

}  // namespace analysis

double FalsePositiveRate(FilterKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return analysis::kNotANumber;
  return analysis::ScaledFalsePositiveRate(kind, bits, keys, probes).Value();
}

double Log2FalsePositiveRate(FilterKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return analysis::kNotANumber;
  return analysis::ScaledFalsePositiveRate(kind, bits, keys, probes).Log2();
}

double AsymptoticFalsePositiveRate(std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(FilterKind::kStandard, bits, keys, probes)) {
    return analysis::kNotANumber;
  }
  const double balls = static_cast<double>(probes) * static_cast<double>(keys);
  return std::pow(-std::expm1(-balls / static_cast<double>(bits)), probes);
}

double FalsePositiveRateGivenFill(FilterKind kind, std::uint64_t bits, std::uint64_t ones,
                                  int probes) {
  if (!analysis::IsGeometry(kind, bits, 0, probes) || ones > bits) return analysis::kNotANumber;
  const auto m = static_cast<double>(bits);
  const auto x = static_cast<double>(ones);
  double rate = 1.0;
  for (int i = 0; i < probes; ++i) {
    const double drawn = kind == FilterKind::kClassic ? i : 0.0;
    rate *= std::max(0.0, x - drawn) / (m - drawn);
  }
  return rate;
}

}  // namespace exactbloom
