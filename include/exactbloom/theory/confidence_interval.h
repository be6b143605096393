// Confidence intervals for measured rates.
//
// A measurement counts s successes in t independent trials and gives an interval for the unknown
// rate; with confidence c such intervals are wrong in a share 1 - c of all measurements. Wilson's
// interval (1927) also does this for rates near zero, where the textbook's s/t +- error does not.
#pragma once

#include <cstdint>

namespace exactbloom {

struct Interval {
  double low = 0.0;
  double high = 1.0;

  bool Contains(double rate) const { return low <= rate && rate <= high; }
};

// The standard normal quantile of two-sided intervals with a confidence of 99.9%.
inline constexpr double kZ999 = 3.290526731491896;

// Returns Wilson's score interval of a rate.
//   successes   0 .. trials
//   trials      with none the interval is 0 .. 1
//   z           the two-sided normal quantile, such as kZ999
//   dispersion  variance of the count over its binomial variance, at least 1; above 1 where trials
//               share a source of chance, as queries of one filter share its fill
// Source: Wilson 1927, with trials divided by the dispersion.
Interval WilsonInterval(std::uint64_t successes, std::uint64_t trials, double z,
                        double dispersion = 1.0);

}  // namespace exactbloom
