// How many keys a filter holds, and how many two filters share, from their numbers of ones.
//
// A key leaves a given bit zero with probability V_1; after n keys the expected share of zeros is
// V_1^n. Solving for n gives the estimator by moments (Corollary 18):
//
//   classic    n = ln(1 - X/m) / ln(1 - k/m)
//   standard   n = ln(1 - X/m) / (k ln(1 - 1/m))
//
// Filters of equal geometry and hash seed: the bitwise OR is the filter of the union of their keys,
// and n1 + n2 - n(OR) estimates how many keys they share (Swamidass and Baldi 2007). All functions
// take counts of bits, so they work on stored filters whose keys are gone.
//
// Errors: outside the ranges, for what no filter can have, and for more than 2^53 keys, a function
// that returns a double returns NaN, and any other one returns nothing. No classic filter has 1 to
// k - 1 ones. No function throws or allocates.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/layout.h"
#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom {

struct KeyCountEstimate {
  double keys = 0.0;  // by moments; infinite for a full filter
  Interval interval;  // two-sided, for the given quantile; it holds `keys`, its end may be infinite
};

// Estimates how many distinct keys were added to a filter.
//   bits     m, 2 .. 2^53
//   ones     X, 0 .. bits
//   probes   k, as for FalsePositiveRate, and less than `bits`
//   z        two-sided normal quantile such as kZ999, at least 0
// The interval holds the numbers of keys whose expected ones lie within z standard deviations of X,
// both exact at whole numbers of keys and interpolated between them. It covers the truth as often
// as z says from a standard deviation of X of three bits on: with z = 1, which says 68.3%, in 65 to
// 74% of all cases, with 1.96, for 95%, in 93.5 to 96.5%. With a deviation of 1 to 1.5 bits it is
// 53 to 84% in place of 68.3%. Precision: relative error of `keys` at most 1e-12, of the ends 1e-9.
// Source: Corollary 18, (46).
std::optional<KeyCountEstimate> EstimateKeys(BloomKind kind, std::uint64_t bits, std::uint64_t ones,
                                             int probes, double z);

// Returns -(m/k) ln(1 - X/m), the limit of both estimators for large filters, for comparison.
// Parameters as above; infinite for a full filter. Precision: relative error at most 1e-15. Source:
// Swamidass and Baldi 2007.
double SwamidassBaldiKeys(std::uint64_t bits, std::uint64_t ones, int probes);

// Returns the whole number of keys n that makes P(X = ones) the largest. Parameters as above;
// nothing is returned, either, for a full filter, whose likelihood has no maximum.
// Precision: exact up to 1e12 bits, but for neighbours whose probabilities differ by rounding
// errors; beyond, the relative error is at most 1e-14. Time: 10 microseconds with 7 probes; some
// 500 where only a few of the bits are zero, and milliseconds then at 2^53 bits. Source: Corollary
// 18; the probabilities by Rice's integral (Flajolet and Sedgewick, Mellin transforms and
// asymptotics: finite differences and Rice's integrals, 1995).
std::optional<std::uint64_t> MaximumLikelihoodKeys(BloomKind kind, std::uint64_t bits,
                                                   std::uint64_t ones, int probes);

// Estimates how many keys two filters of equal geometry and hash seed have in common.
//   ones_first, ones_second   their numbers of ones
//   ones_union                the ones of both together: of the bitwise OR
// Other parameters as above. `keys` is n1 + n2 - n(OR), but at least 0 and at most the keys of
// either filter. The interval is the normal one about n1 + n2 - n(OR), cut at 0 and widened to hold
// `keys`. With 200 of 300 keys or 40 of them shared, in filters of 4,096 bits, 95% intervals cover
// the truth in 95% of the trials; where nothing is shared the low end cannot miss, and 97.5% cover.
// With s the shared keys, a and b those of one filter alone, v = V_1 and w = V_2 / V_1^2, the
// variance times (ln V_1)^2 is the sum
//
//   Var(X after s keys) / (m v^s)^2  +  v^-s (v^-a - 1) (v^-b - 1) / m
//                                    +  (1 - 1/m) w^s (1 - w^a) (1 - w^b)
//
// Precision: absolute error at most 1e-12 times the keys of both. Errors: nothing is returned,
// either, for numbers of ones that contradict each other, or for a full union. Source: Swamidass
// and Baldi 2007, with (46) in place of their limit.
std::optional<KeyCountEstimate> EstimateSharedKeys(BloomKind kind, std::uint64_t bits,
                                                   std::uint64_t ones_first,
                                                   std::uint64_t ones_second,
                                                   std::uint64_t ones_union, int probes, double z);

}  // namespace exactbloom
