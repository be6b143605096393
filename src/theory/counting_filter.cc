#include "exactbloom/theory/counting_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../analysis/scaled_rate.h"

namespace exactbloom {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// C(N, j + 1) p^(j+1) (1-p)^(N-j-1) relative to the same with j.
template <typename Real>
Real Ratio(std::uint64_t trials, std::uint64_t j, Real odds) {
  return static_cast<Real>(trials - j) / static_cast<Real>(j + 1) * odds;
}

// The sum of `term`, which belongs to j = from, and all terms above it that count.
double UpwardSum(std::uint64_t trials, double odds, std::uint64_t from, double term) {
  double sum = term;
  for (std::uint64_t j = from; j < trials; ++j) {
    const double ratio = Ratio(trials, j, odds);
    term *= ratio;
    sum += term;
    if (ratio < 1.0 && term <= 1e-17 * sum * (1.0 - ratio)) break;
  }
  return sum;
}

// P(Binomial(trials, p) >= least). Terms are kept as logarithms, since the first one may underflow,
// and in extended precision, since the logarithms are large.
double Tail(std::uint64_t trials, double p, std::uint64_t least) {
  if (least > trials) return 0.0;
  if (p >= 1.0) return 1.0;
  const long double odds = static_cast<long double>(p) / (1.0L - p);
  long double log_term =
      static_cast<long double>(trials) * std::log1p(-static_cast<long double>(p));
  long double below = 0.0;
  for (std::uint64_t j = 0; j < least; ++j) {
    below += std::exp(log_term);
    log_term += std::log(Ratio(trials, j, odds));
  }
  // Beyond the mean the tail is the small side, and is summed itself.
  const bool beyond_mean = static_cast<double>(least) > static_cast<double>(trials) * p;
  if (!beyond_mean) return static_cast<double>(std::max(0.0L, 1.0L - below));
  const auto first = static_cast<double>(std::exp(log_term));
  return std::min(1.0, UpwardSum(trials, static_cast<double>(odds), least, first));
}

bool IsValid(FilterKind kind, std::uint64_t bits, std::uint64_t keys, int probes,
             int counter_bits) {
  return analysis::IsGeometry(kind, bits, keys, probes) && counter_bits >= 1 &&
         counter_bits <= kMaxCounterBits;
}

}  // namespace

double CounterOverflowProbability(FilterKind kind, std::uint64_t bits, std::uint64_t keys,
                                  int probes, int counter_bits) {
  if (!IsValid(kind, bits, keys, probes, counter_bits)) return kNotANumber;
  const auto m = static_cast<double>(bits);
  const std::uint64_t least = std::uint64_t{1} << counter_bits;
  return kind == FilterKind::kClassic
             ? Tail(keys, probes / m, least)
             : Tail(keys * static_cast<std::uint64_t>(probes), 1.0 / m, least);
}

double SummaryCacheOverflowBound(std::uint64_t bits, std::uint64_t keys, int probes,
                                 int counter_bits) {
  if (!IsValid(FilterKind::kStandard, bits, keys, probes, counter_bits)) return kNotANumber;
  const auto m = static_cast<double>(bits);
  const double least = std::ldexp(1.0, counter_bits);
  return m * std::pow(std::exp(1.0) * static_cast<double>(keys) * probes / (least * m), least);
}

}  // namespace exactbloom
