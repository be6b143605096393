// Exact rates, and how far one filter's own false-positive rate lies from the rate averaged over
// hash functions.
//
// All queries of one filter share its fill, which adds to the binomial variance of a measured rate.
// That enters an interval as the dispersion of WilsonInterval.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "exactbloom/filter.h"
#include "exactbloom/layout.h"
#include "exactbloom/sizing.h"

namespace exactbloom::support {

// Returns the standard deviation, over hash functions, of the rate of one filter of `size` with
// `keys` keys, as a share of its mean. The rate given X one-bits is nearly proportional to X^k, so
// it is k times that of X, from the exact first two moments of X. Precision: first order in the
// deviation, which is enough to widen an interval.
double RelativeRateDeviation(BloomKind kind, const FilterSize& size, std::uint64_t keys);

struct ExactRate {
  double mean = 0.0;                // over hash functions
  double relative_deviation = 0.0;  // of one filter's own rate
};

// Remembers exact rates by their parameters: thousands of partitions have only a few geometries,
// whose rates take up to two milliseconds each.
class ExactRates {
 public:
  // Of a Bloom filter.
  ExactRate Of(const FilterDescription& filter);

 private:
  std::map<std::tuple<BloomKind, std::uint64_t, std::uint64_t, int>, ExactRate> known_;
};

// Returns the variance of the number of false positives over its binomial variance, for `queries`
// absent keys and one filter of mean rate `rate` and relative `deviation`.
double Dispersion(double rate, double deviation, std::uint64_t queries);

}  // namespace exactbloom::support
