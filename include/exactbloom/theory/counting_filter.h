// The probability that counters of a counting filter overflow.
//
// A counting filter keeps a counter of b bits for each position, so that keys can be deleted. Like
// the bits of a filter, a position of a classic filter is hit by a key with probability k/m, that
// of a standard filter by each of nk balls with probability 1/m. (An SSTable never changes: it
// needs no counters. docs/why-bloom.md.)
//
// No function throws or allocates.
#pragma once

#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom {

inline constexpr int kMaxCounterBits = 16;

// Returns the probability that a given counter of `counter_bits` bits has overflowed, that is, was
// incremented 2^b times or more: the tail of Binomial(nk, 1/m) or, for classic, Binomial(n, k/m).
//   bits           m, the number of counters, 1 .. 2^53; other parameters as for FalsePositiveRate
//   counter_bits   b, 1 .. kMaxCounterBits
// Precision: relative error at most 1e-11; zero where it underflows. Times m it is the expected
// number of overflowed counters, and an upper bound for the probability that any did. Errors: NaN
// outside the ranges. Source: Fan et al. 1998, without their bound.
double CounterOverflowProbability(FilterKind kind, std::uint64_t bits, std::uint64_t keys,
                                  int probes, int counter_bits);

// Returns the bound m (e n k / (j m))^j, j = 2^b, for the probability that any counter overflows.
// At n k / m = ln 2 and b = 4 it is the 1.37e-15 m of the paper. A value above one gives no
// information. Parameters and errors as above. Source: Fan et al. 1998, on the counters of a
// counting filter.
double SummaryCacheOverflowBound(std::uint64_t bits, std::uint64_t keys, int probes,
                                 int counter_bits);

}  // namespace exactbloom
