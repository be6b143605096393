// The distributions that the statistical tests compare their counts with.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"
#include "sample_filters.h"

namespace exactbloom {

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

// The moments of the number of one-bits of a filter, over hash functions; for lines > 0 only the
// mean. Source: Burns 2019, (42)-(45) and (16), with the variance's two large terms subtracted on
// paper.
Moments OnesMoments(const Geometry& geometry);

// The variance, over hash functions, of the rate that one filter has given its fill; to first order
// in the spread of the fill.
double RateVariance(const Geometry& geometry);

// The exact rate of one usable filter block given its array, over the keys' hashes alone.
double RateGivenArray(std::string_view block);

// The interval that a chi-square variable leaves with the probability that belongs to the two-sided
// normal quantile z.
// Source: the cube-root normal approximation (Wilson and Hilferty 1931), good from about 30 degrees
// of freedom.
Interval ChiSquareInterval(double degrees_of_freedom, double z = kZ999);

// The chi-square statistic of counts that should all be equal.
double ChiSquareOfUniform(const std::vector<std::uint64_t>& counts);

}  // namespace exactbloom
