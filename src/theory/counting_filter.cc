#include "exactbloom/theory/counting_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../analysis/scaled_rate.h"

namespace exactbloom {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// What hits one counter: Binomial(trials, chance).
struct Hits {
  std::uint64_t trials;
  long double chance;
};

Hits HitsOf(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  const auto m = static_cast<long double>(bits);
  return kind == BloomKind::kClassic ? Hits{keys, probes / m}
                                     : Hits{keys * static_cast<std::uint64_t>(probes), 1.0L / m};
}

// P(j + 1 hits) / P(j hits).
long double Ratio(const Hits& hits, std::uint64_t j) {
  return static_cast<long double>(hits.trials - j) / static_cast<long double>(j + 1) *
         (hits.chance / (1.0L - hits.chance));
}

// The sum of `term`, which belongs to j = from, and all terms above it that count.
long double UpwardSum(const Hits& hits, std::uint64_t from, long double term) {
  long double sum = term;
  for (std::uint64_t j = from; j < hits.trials; ++j) {
    const long double ratio = Ratio(hits, j);
    term *= ratio;
    sum += term;
    if (ratio < 1.0L && term <= 1e-17L * sum * (1.0L - ratio)) break;
  }
  return sum;
}

// P(at least `least` hits). Terms are kept as logarithms, since the first one may underflow, and in
// extended precision, since the logarithms are large. The smaller side is summed: above the mean
// the tail, below it the complement.
double Tail(const Hits& hits, std::uint64_t least) {
  if (least > hits.trials) return 0.0;
  if (hits.chance >= 1.0L) return 1.0;
  long double log_term = static_cast<long double>(hits.trials) * std::log1p(-hits.chance);
  long double below = 0.0L;
  for (std::uint64_t j = 0; j < least; ++j) {
    below += std::exp(log_term);
    log_term += std::log(Ratio(hits, j));
  }
  const long double mean = static_cast<long double>(hits.trials) * hits.chance;
  if (static_cast<long double>(least) <= mean) return static_cast<double>(1.0L - below);
  return static_cast<double>(std::min(1.0L, UpwardSum(hits, least, std::exp(log_term))));
}

// C(trials, j) chance^j.
double BinomialBound(const Hits& hits, std::uint64_t j) {
  if (j > hits.trials) return 0.0;
  long double log_bound = 0.0L;
  for (std::uint64_t i = 0; i < j; ++i) {
    log_bound += std::log(static_cast<long double>(hits.trials - i) * hits.chance /
                          static_cast<long double>(i + 1));
  }
  return static_cast<double>(std::exp(log_bound));
}

// The x of at least 2 with Gamma(x) = m.
double InverseGamma(double m) {
  const double log_m = std::log(m);
  double low = 2.0;
  double high = 4.0 + log_m;
  while (high - low > 1e-14 * high) {
    const double middle = low + (high - low) / 2.0;
    (std::lgamma(middle) < log_m ? low : high) = middle;
  }
  return high;
}

bool IsCountingFilter(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes,
                      int counter_bits) {
  return analysis::IsGeometry(kind, bits, keys, probes) && counter_bits >= 1 &&
         counter_bits <= kMaxCounterBits;
}

}  // namespace

double CounterOverflowProbability(BloomKind kind, std::uint64_t bits, std::uint64_t keys,
                                  int probes, int counter_bits) {
  if (!IsCountingFilter(kind, bits, keys, probes, counter_bits)) return kNotANumber;
  return Tail(HitsOf(kind, bits, keys, probes), std::uint64_t{1} << counter_bits);
}

std::optional<OverflowBounds> CounterOverflowBounds(BloomKind kind, std::uint64_t bits,
                                                    std::uint64_t keys, int probes,
                                                    int counter_bits) {
  if (!IsCountingFilter(kind, bits, keys, probes, counter_bits)) return std::nullopt;
  const auto m = static_cast<double>(bits);
  const Hits hits = HitsOf(kind, bits, keys, probes);
  const std::uint64_t least = std::uint64_t{1} << counter_bits;
  const auto j = static_cast<long double>(least);
  const long double mean = static_cast<long double>(hits.trials) * hits.chance;
  return OverflowBounds{m * Tail(hits, least), m * BinomialBound(hits, least),
                        m * static_cast<double>(std::pow(std::exp(1.0L) * mean / j, j))};
}

double ExpectedLargestCounter(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  constexpr double kMostHits = 1000.0;
  constexpr double kNegligible = 1e-12;
  const auto m = static_cast<double>(bits);
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return kNotANumber;
  const Hits hits = HitsOf(kind, bits, keys, probes);
  if (static_cast<double>(hits.trials) * static_cast<double>(hits.chance) > kMostHits) {
    return kNotANumber;
  }
  double sum = 0.0;
  for (std::uint64_t least = 1; least <= hits.trials; ++least) {
    const double reached = -std::expm1(m * std::log1p(-Tail(hits, least)));
    sum += reached;
    if (reached < kNegligible) break;
  }
  return sum;
}

double LargestCounterByGamma(std::uint64_t bits, std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(BloomKind::kStandard, bits, keys, probes) || bits < 2 || keys < 1) {
    return kNotANumber;
  }
  const auto m = static_cast<double>(bits);
  const double inverse = InverseGamma(m);
  return inverse * (1.0 + std::log(static_cast<double>(keys) * probes / m) / std::log(inverse));
}

}  // namespace exactbloom
