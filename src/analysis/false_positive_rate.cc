#include "exactbloom/false_positive_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rate_chain.h"
#include "scaled_rate.h"

namespace exactbloom {
namespace analysis {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

ScaledNumber WholeFilterRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  const bool classic = kind == BloomKind::kClassic;
  const auto k = static_cast<std::uint64_t>(probes);
  const std::uint64_t size = classic ? k : 1;
  const std::uint64_t count = classic ? keys : keys * k;
  const double share = static_cast<double>(size) / static_cast<double>(bits);
  const double log_zeros = static_cast<double>(count) * std::log1p(-share);
  // The probability that any bit of a key is a zero is at most this, and less than a rounding.
  if (probes * std::exp(log_zeros) < 0x1p-54) return {1.0, 0};
  const double expected_fill = -std::expm1(log_zeros);
  RateChain chain(bits, probes, expected_fill);
  chain.AddCommittees(count, size);
  return {classic ? chain.AllOnes(probes) : chain.AllDrawsOne(probes),
          -probes * chain.ScaleExponent()};
}

}  // namespace

bool IsGeometry(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  return bits >= 1 && bits <= kMaxCount && keys <= kMaxCount && probes >= 1 &&
         probes <= MostProbes(kind, bits, kMaxAnalysisProbes);
}

ScaledNumber ScaledFalsePositiveRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys,
                                     int probes) {
  if (keys == 0) return {0.0, 0};
  // All bits of the filter are set by any one key.
  if (bits == static_cast<std::uint64_t>(probes) && kind == BloomKind::kClassic) {
    return {1.0, 0};
  }
  if (bits == 1) return {1.0, 0};
  const ScaledNumber rate = WholeFilterRate(kind, bits, keys, probes);
  return rate.Log2() > 0.0 ? ScaledNumber{1.0, 0} : rate;  // a rounding above one
}

}  // namespace analysis

double FalsePositiveRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return analysis::kNotANumber;
  return analysis::ScaledFalsePositiveRate(kind, bits, keys, probes).Value();
}

double Log2FalsePositiveRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return analysis::kNotANumber;
  return analysis::ScaledFalsePositiveRate(kind, bits, keys, probes).Log2();
}

double AsymptoticFalsePositiveRate(std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(BloomKind::kStandard, bits, keys, probes)) {
    return analysis::kNotANumber;
  }
  const double balls = static_cast<double>(probes) * static_cast<double>(keys);
  return std::pow(-std::expm1(-balls / static_cast<double>(bits)), probes);
}

double FalsePositiveRateGivenFill(BloomKind kind, std::uint64_t bits, std::uint64_t ones,
                                  int probes) {
  if (!analysis::IsGeometry(kind, bits, 0, probes) || ones > bits) return analysis::kNotANumber;
  const auto m = static_cast<double>(bits);
  const auto x = static_cast<double>(ones);
  double rate = 1.0;
  for (int i = 0; i < probes; ++i) {
    const double drawn = kind == BloomKind::kClassic ? i : 0.0;
    rate *= std::max(0.0, x - drawn) / (m - drawn);
  }
  return rate;
}

}  // namespace exactbloom
