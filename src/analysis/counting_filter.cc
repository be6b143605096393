#include "exactbloom/counting_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "false_positive_rate.h"

namespace exactbloom {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// The terms from one of j = from on, upwards, until they no longer count. The first one is relative
// to `term`.
double UpwardSum(double trials, double odds, double from, double term) {
  double sum = term;
  for (double j = from; j < trials; ++j) {
    const double ratio = (trials - j) / (j + 1.0) * odds;
    term *= ratio;
    sum += term;
    if (ratio < 1.0 && term <= 1e-17 * sum * (1.0 - ratio)) break;
  }
  return sum;
}

// P(Binomial(trials, p) >= least) as a sum of positive terms.
double Tail(double trials, double p, double least) {
  if (least > trials) return 0.0;
  if (p >= 1.0) return 1.0;
  const double odds = p / (1.0 - p);
  const double mean = trials * p;
  if (least > mean) {
    // C(N, j) p^j (1-p)^(N-j): as logarithms, for (1-p)^(N-j) alone may underflow, and in extended
    // precision, for they are large.
    long double log_term =
        static_cast<long double>(trials - least) * std::log1p(-static_cast<long double>(p));
    for (double i = 0.0; i < least; ++i) {
      log_term += std::log(static_cast<long double>(trials - i) / (i + 1.0) * p);
    }
    const auto term = static_cast<double>(std::exp(log_term));
    return std::min(1.0, UpwardSum(trials, odds, least, term));
  }
  // The rest below is the smaller side: 1 - P(j < least), from the term just below downwards.
  double log_term = trials * std::log1p(-p);
  double sum = 0.0;
  for (double j = 0.0; j < least; ++j) {
    sum += std::exp(log_term);
    log_term += std::log((trials - j) / (j + 1.0) * odds);
  }
  return std::max(0.0, 1.0 - sum);
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
  const auto n = static_cast<double>(keys);
  const double least = std::ldexp(1.0, counter_bits);
  return kind == FilterKind::kClassic ? Tail(n, probes / m, least)
                                      : Tail(n * probes, 1.0 / m, least);
}

double SummaryCacheOverflowBound(std::uint64_t bits, std::uint64_t keys, int probes,
                                 int counter_bits) {
  if (!IsValid(FilterKind::kStandard, bits, keys, probes, counter_bits)) return kNotANumber;
  const auto m = static_cast<double>(bits);
  const double least = std::ldexp(1.0, counter_bits);
  return m * std::pow(std::exp(1.0) * static_cast<double>(keys) * probes / (least * m), least);
}

}  // namespace exactbloom
