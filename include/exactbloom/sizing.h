// Choosing a filter's parameters by its exact false-positive rate.
//
// The usual formulas k = (m/n) ln 2 and m = n log2(1/rate) / ln 2 are limits for large filters.
// Here every answer is the best one for the given whole numbers, found by a search on the exact
// rate.
//
// `most_probes` is the largest k to look at, 1 .. kMaxAnalysisProbes; a filter has kMaxProbes.
//
// Errors: outside the ranges OptimalProbes returns 0, which is no number of probes, and any other
// function returns nothing. The functions do not allocate, and throw nothing. Searches take
// microseconds to some milliseconds, and up to a second for rates below 1e-20. More than kMaxProbes
// take up to seconds, and memory: std::bad_alloc is thrown when it is short.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/layout.h"

namespace exactbloom {

// Returns k*, the number of probes with the lowest exact rate for `bits` and `keys`; the smallest
// one of those that are at most a relative 1e-12 apart, the precision of the rate: k and m - k
// probes of one classic key are an exact tie.
//   bits     m, as for FalsePositiveRate
//   keys     n, 1 .. 2^53; for an empty filter every k is as good, and the smallest is returned
// The result lies in 1 .. most_probes, so a filter with more than most_probes / ln 2 bits per key
// gets the best k of that range. Source: the minimum of (56) and (60) over k; the search starts at
// the usual k, goes down and up, and stops two steps past a minimum. If the bounds of Corollary 23
// tell k* from its neighbours, as they do for most filters of thousands of keys, the exact rate is
// not needed, and an answer takes a fraction of a microsecond.
int OptimalProbes(BloomKind kind, std::uint64_t bits, std::uint64_t keys,
                  int most_probes = kMaxProbes);

struct FilterSize {
  std::uint64_t bits = 0;            // m
  int probes = 0;                    // k*, for these bits and the given number of keys
  double false_positive_rate = 1.0;  // exact, at these bits and probes
};

// Returns the smallest filter whose exact rate for `keys` keys is at most `target`, at its own k*.
//   keys     n, 1 .. 1e12
//   target   a rate, strictly between 0 and 1
// Errors: nothing is returned, either, if more than 2^53 bits would be needed.
std::optional<FilterSize> SmallestFilter(BloomKind kind, std::uint64_t keys, double target,
                                         int most_probes = kMaxProbes);

// Returns the largest number of keys that a filter of `bits` bits holds at an exact rate of at most
// `target`, with k* for that number; 0 if a single key exceeds the target.
//   bits     m, 1 .. 1e12
//   target   a rate, strictly between 0 and 1
// The answer is at most 2^53, which it reaches only for targets that differ from 1 by rounding
// errors.
std::optional<std::uint64_t> MostKeys(BloomKind kind, std::uint64_t bits, double target,
                                      int most_probes = kMaxProbes);

}  // namespace exactbloom
