// The distributions that the statistical tests compare their counts with.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"
#include "sample_filters.h"

namespace exactbloom {

// Expects that a filter of `keys` distinct keys gave `false_positives` in `asked` questions: within
// the interval of 99.9% around its exact rate, the deviations of one filter's fill included.
void ExpectExactRate(std::uint64_t false_positives, std::uint64_t asked, Layout layout,
                     const FilterSize& size, std::uint64_t keys);

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
