// How many keys a filter holds, and how many two filters share, from their numbers of one-bits.
//
// A key leaves a given bit zero with probability V_1, and two given bits with V_2; after n keys the
// expected share of zeros is V_1^n. Solving for n gives the estimator by moments (Corollary 18).
// With h(n) = (V_1^-n - 1) / m + (1 - 1/m) ((V_2 / V_1^2)^n - 1), the variance of the logarithm of
// the share of zeros, its variance is h(n) / (ln V_1)^2. With lines = 1 V_2 depends on
// whether the two bits lie in one line or in two, and h takes its mean over all pairs.
//
// Filters of equal geometry and hash seed: the union of their bits is the filter of the union of
// their keys, and n1 + n2 - n(union) estimates the keys that they share. All functions take
// counts of bits, so they work on stored filters whose keys are gone.
//
// No function throws anything but std::bad_alloc.
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
//   bits     m, 2 .. 2^53; with lines = 1 a whole number of lines
//   ones     X, 0 .. bits
//   probes   k, as for FalsePositiveRate, and less than `bits`
//   z        two-sided normal quantile such as kZ999, at least 0
// The interval holds the numbers of keys whose expected ones lie within z standard deviations (of
// the exact occupancy distribution) of X. It has the coverage of z if the filter has hundreds of
// bits or more and the standard deviation of X is above one bit. Errors: nothing is returned for
// parameters outside these ranges. Source: Corollary 18, and its moments with the pairs of bits of
// each line for lines = 1.
std::optional<KeyCountEstimate> EstimateKeys(Layout layout, std::uint64_t bits, std::uint64_t ones,
                                             int probes, double z);

// The largest filter, in bits, for which MaximumLikelihoodKeys takes the exact distribution.
inline constexpr std::uint64_t kMaxExactLikelihoodBits = std::uint64_t{1} << 15;

// Returns the whole number of keys n that makes P(X = ones) the largest, for lines = 0.
// Up to kMaxExactLikelihoodBits by the exact p.m.f. (under half a second); beyond by the normal
// density with the exact mean and variance, which may differ by a key or two, far inside the
// interval. Parameters and errors as above; nothing is returned, either, for a full filter, whose
// likelihood has no maximum, or if no number of keys gives `ones`.
std::optional<std::uint64_t> MaximumLikelihoodKeys(FilterKind kind, std::uint64_t bits,
                                                   std::uint64_t ones, int probes);

// Estimates how many keys two filters of equal geometry and hash seed have in common.
//   ones_first, ones_second   their numbers of one-bits
//   ones_union                the one-bits of both together: of the bitwise OR
// Other parameters as above. The interval is the normal one: with n1, n2, u and s the numbers of
// keys of the two, of their union and shared, the variance is (h(u) + 2 h(s) - h(n1) - h(n2)) / (ln
// V_1)^2. Errors: nothing is returned for parameters outside the ranges, for bit counts that
// contradict each other, or when the union is full.
std::optional<KeyCountEstimate> EstimateSharedKeys(Layout layout, std::uint64_t bits,
                                                   std::uint64_t ones_first,
                                                   std::uint64_t ones_second,
                                                   std::uint64_t ones_union, int probes, double z);

}  // namespace exactbloom
