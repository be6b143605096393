// How likely counters of a counting filter overflow.
//
// A counting filter keeps a counter of b bits for each position, so that keys can be deleted. A key
// of a classic filter hits a position with probability k/m, each of the nk balls of a standard
// filter with probability 1/m. A counter has overflowed if it was hit j = 2^b times or more: the
// tail of Binomial(n, k/m) or Binomial(nk, 1/m). An SSTable never changes and needs no counters.
//
// Errors: outside the ranges a function that returns a double returns NaN, and any other one
// returns nothing. No function throws or allocates. Source: Fan et al., Summary Cache, 1998.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/layout.h"

namespace exactbloom {

inline constexpr int kMaxCounterBits = 16;

// Returns the probability that a given counter has overflowed.
//   bits           m, the number of counters, 1 .. 2^53; other parameters as for FalsePositiveRate
//   counter_bits   b, 1 .. kMaxCounterBits
// Precision: relative error at most 1e-11; zero where it underflows.
double CounterOverflowProbability(BloomKind kind, std::uint64_t bits, std::uint64_t keys,
                                  int probes, int counter_bits);

// Bounds of the probability that any counter overflows, each above the one before. A value above
// one says nothing.
struct OverflowBounds {
  double expected = 0.0;     // m times the exact tail: the expected number of overflowed counters
  double binomial = 0.0;     // m C(nk, j) / m^j, classic m C(n, j) (k/m)^j
  double exponential = 0.0;  // m (e n k / (j m))^j, which at n k / m = ln 2 and b = 4 is 1.37e-15 m
};

// Parameters and precision as above.
std::optional<OverflowBounds> CounterOverflowBounds(BloomKind kind, std::uint64_t bits,
                                                    std::uint64_t keys, int probes,
                                                    int counter_bits);

// Returns the expected value of the largest counter, as if the counters were independent: the sum
// over j of the probability that one is at least j, with the exact tail, which is nearly Poisson's.
// Parameters as above, with at most 1,000 hits of a counter on average.
// Precision: for a thousand counters and more within 0.04 of a simulation; relative error of the
// sum at most 1e-9.
double ExpectedLargestCounter(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes);

// Returns g (1 + ln(nk / m) / ln g) with Gamma(g) = m, the leading terms of the same for many
// counters and nk / m near one: for m = 1e7 at half fill it is 9.71 in place of 8.46.
//   bits   m, 2 .. 2^53; keys above 0
// Precision of the formula: relative error at most 1e-12. Source: Summary Cache, after Gonnet 1981.
double LargestCounterByGamma(std::uint64_t bits, std::uint64_t keys, int probes);

}  // namespace exactbloom
