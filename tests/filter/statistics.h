// The distributions that the statistical tests compare their counts with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"
#include "sample_filters.h"

namespace exactbloom {

// Expects that a filter of `keys` distinct keys gave `false_positives` in `asked` questions: within
// the interval of 99.9% around its exact rate, the deviations of one filter's fill included.
void ExpectExactRate(std::uint64_t false_positives, std::uint64_t asked, BloomKind kind,
                     const FilterSize& size, std::uint64_t keys);

// The exact rate of one usable filter block given its array, over the keys' hashes alone.
double RateGivenArray(std::string_view block);

// One test of many measured counts: each becomes a p-value, and together the p-values have to be
// uniform.
//
// If counts follow the distributions that they are said to follow, their p-values are uniform on
// (0, 1), whatever those distributions are. A deviation too small to show in any one of them shows
// in all together: a wrong mean pushes p-values to one end, a wrong spread to both or to the
// middle.

// The expected distribution of a count of successes.
struct ExpectedCount {
  std::uint64_t trials = 0;
  double rate = 0.0;        // of a success, between 0 and 1
  double dispersion = 1.0;  // as in WilsonInterval
};

// Returns the probability of fewer successes than `count`, and of the count itself the share
// `lot`: exactly uniform when lot is, although counts are discrete. It is near 0 where successes
// are too few and near 1 where they are too many.
//   lot   0 .. 1, drawn anew for each count
// The distribution is the binomial one, where dispersion > 1 the beta-binomial of that variance.
double RandomisedPValue(std::uint64_t count, const ExpectedCount& expected, double lot);

// Returns the Anderson-Darling statistic of p-values that should be uniform; infinite if one is 0
// or 1. Unlike that of Kolmogorov and Smirnov it weighs the ends of the range as much as the
// middle.
// Source: Anderson and Darling 1954.
double AndersonDarling(std::vector<double> p_values);

// What the statistic of uniform p-values exceeds once in 10,000 times, for 50 of them and more.
// Source: the limiting distribution (Marsaglia and Marsaglia 2004).
inline constexpr double kAndersonDarling9999 = 8.1;

// What was measured of filters of one geometry: a row of docs/figures/measured/reliability.csv.
struct MeasuredRate {
  std::string geometry;  // kind, bits, keys, probes and bits per key, the unknown ones empty
  std::uint64_t filters = 0;
  std::uint64_t present = 0;  // keys asked for
  std::uint64_t found = 0;    // of these
  std::uint64_t absent = 0;
  std::uint64_t false_positives = 0;
  double rate = 0.0;        // exact
  double dispersion = 1.0;  // as in ExpectedCount
  double lot = 0.0;         // of its p-value
};

// Returns a lot for a p-value.
double DrawLot(std::mt19937_64& random);

// Expects that every present key was found; that the p-values are uniform and that none is
// impossible by itself; and that they would not be uniform if each rate were higher or lower by the
// share `resolution`. Appends the rows to the file that EXACTBLOOM_RATE_RESULTS names, if any.
//   seed   of the filters' hash seeds, for the rows
void ExpectUniform(const std::vector<MeasuredRate>& rates, double resolution, std::uint64_t seed);

}  // namespace exactbloom
