// Bounds and approximations in closed form, of a standard filter unless a kind is given, beside
// those of rate_bounds.h.
//
// m is the number of bits, n of keys, k of probes. Their ranges are those of FalsePositiveRate.
//
// Errors: outside the ranges a function that returns a double returns NaN, and any other one
// returns nothing. No function throws or allocates.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/interval.h"
#include "exactbloom/layout.h"

namespace exactbloom {

// Returns the upper bound (1 - e^(-k (n + 1/2) / (m - 1)))^k of the standard rate; 1 for m = 1.
// Bloom's formula (BloomRate) is tighter at 240 bits and 24 keys. Precision: relative error at most
// 1e-12. Source: Goel and Gupta 2010.
double GoelGuptaBound(std::uint64_t bits, std::uint64_t keys, int probes);

// Returns p^k + k (k-1) / 2 p^(k-2) Var(X) / m^2 with p = E[X] / m: the standard rate E[(X/m)^k] to
// the second order of the deviation of X. It differs from the exact rate by 1.1% for m = 64, n = 4
// and k = 10, and at ten bits a key and k = 7 by 0.013% for m = 240 and 0.0008% for 1,000, where
// (57), its first term, is 2.6% low at 240. Precision of the formula: relative error at most 1e-12.
// Source: Burns 2019, after Theorem 22.
double SecondOrderRate(std::uint64_t bits, std::uint64_t keys, int probes);

// Returns the deviation of the number of ones X from its mean that is exceeded, to either side,
// with at most `probability`: sqrt(s ln(2 / probability) / 2) with s the smaller one of m and nk.
// Each of the nk draws changes X by at most one; and the m bits are negatively associated, as sums
// of which are no wider than those of independent ones. It is wide: for m = 1e6, n = 1e5 and k = 7
// it gives 1,521 ones, by m alone 1,818, where three standard deviations (Occupancy::Variance) are
// 834, at the same probability of 0.27%.
//   probability   above 0, at most 1
// Precision: relative error at most 1e-14. Source: Azuma 1967 and Hoeffding 1963; the
// encyclopedia's article has 2 exp(-2 x^2 / m).
double AzumaHoeffdingDeviation(std::uint64_t bits, std::uint64_t keys, int probes,
                               double probability);

// Returns bounds of the factorial moment E[X^(r)] of the number of ones with mean mu = E[X]:
//
//   mu^(r) <= E[X^(r)] <= m^(r) (mu / m)^r
//
//   r   0 .. 255
// The lower one is 0 where mu < r - 1. Divided by m^(k), at r = k they are those of the classic
// rate. Precision: relative error at most 1e-12; infinity and zero beyond the range of double.
// Source: Theorem 15, of which our copy has no formula: these are the ones that Corollary 23
// follows from.
std::optional<Interval> FactorialMomentBounds(BloomKind kind, std::uint64_t bits,
                                              std::uint64_t keys, int probes, int r);

}  // namespace exactbloom
