// Confidence intervals for measured rates.
//
// A measurement counts s successes in t independent trials and gives an interval for the unknown
// rate; with confidence c such intervals are wrong in a share 1 - c of all measurements. Wilson's
// interval (1927) also does this for rates near zero, where the textbook's s/t +- error does not.
//
// Errors: nothing is returned outside the ranges. No function throws or allocates.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/interval.h"

namespace exactbloom {

// The standard normal quantiles of two-sided intervals.
inline constexpr double kZ999 = 3.290526731491896;  // 99.9%

// Returns Wilson's score interval of a rate, which holds successes / trials.
//   successes   0 .. trials
//   trials      with none the interval is 0 .. 1
//   z           the two-sided normal quantile, such as kZ999, at least 0 and finite
//   dispersion  variance of the count over its binomial variance, at least 1; above 1 where trials
//               share a source of chance, as queries of one filter share its fill
// Source: Wilson 1927, with trials divided by the dispersion.
std::optional<Interval> WilsonInterval(std::uint64_t successes, std::uint64_t trials, double z,
                                       double dispersion = 1.0);

}  // namespace exactbloom
