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
// The functions throw std::bad_alloc when memory is short, and nothing else.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/layout.h"
#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom {

struct KeyCountEstimate {
  double keys = 0.0;  // by moments; infinite for a full filter
  Interval interval;  // two-sided, for the given quantile; its high end may be infinite
};

// Estimates how many distinct keys were added to a filter.
//   bits     m, 2 .. 2^53
//   ones     X, 0 .. bits
//   probes   k, as for FalsePositiveRate, and less than `bits`
//   z        two-sided normal quantile such as kZ999, at least 0
// The interval holds the numbers of keys whose expected ones lie within z standard deviations of X,
// both exact at whole numbers of keys and interpolated between them. It covers the truth as often
// as z says if the filter has hundreds of bits and the deviation of X is above one bit.
// Precision: relative error of `keys` at most 1e-12, of the ends 1e-9. Errors: nothing is returned
// for parameters outside these ranges. Source: Corollary 18, (46).
std::optional<KeyCountEstimate> EstimateKeys(BloomKind kind, std::uint64_t bits, std::uint64_t ones,
                                             int probes, double z);

// Returns -(m/k) ln(1 - X/m), the limit of both estimators for large filters, for comparison.
// Parameters as above; infinite for a full filter. Errors: NaN outside the ranges.
// Precision: relative error at most 1e-15. Source: Swamidass and Baldi 2007.
double SwamidassBaldiKeys(std::uint64_t bits, std::uint64_t ones, int probes);

// The largest filter, in bits, for which MaximumLikelihoodKeys takes the exact distribution.
inline constexpr std::uint64_t kMaxExactLikelihoodBits = std::uint64_t{1} << 15;

// Returns the whole number of keys n that makes P(X = ones) the largest. Up to
// kMaxExactLikelihoodBits by the exact p.m.f., in less than a second; beyond by the normal density
// with the exact mean and variance, which may differ by a key or two, far inside the interval.
// Parameters and errors as above; nothing is returned, either, for a full filter, whose likelihood
// has no maximum, or if no number of keys gives `ones`. Source: Corollary 18.
std::optional<std::uint64_t> MaximumLikelihoodKeys(BloomKind kind, std::uint64_t bits,
                                                   std::uint64_t ones, int probes);

// Estimates how many keys two filters of equal geometry and hash seed have in common.
//   ones_first, ones_second   their numbers of ones
//   ones_union                the ones of both together: of the bitwise OR
// Other parameters as above. The interval is the normal one. With s the shared keys, a and b those
// of one filter alone, v = V_1 and w = V_2 / V_1^2, its variance times (ln V_1)^2 is the sum
//
//   Var(X after s keys) / (m v^s)^2  +  v^-s (v^-a - 1) (v^-b - 1) / m
//                                    +  (1 - 1/m) w^s (1 - w^a) (1 - w^b)
//
// Precision: absolute error at most 1e-12 times the keys of both. Errors: nothing is returned for
// parameters outside the ranges, for numbers of ones that contradict each other, or for a full
// union. Source: Swamidass and Baldi 2007, with (46) in place of their limit.
std::optional<KeyCountEstimate> EstimateSharedKeys(BloomKind kind, std::uint64_t bits,
                                                   std::uint64_t ones_first,
                                                   std::uint64_t ones_second,
                                                   std::uint64_t ones_union, int probes, double z);

}  // namespace exactbloom
