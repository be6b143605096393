// How many bits of a filter are one: the first two moments.
//
// A committee is a set of distinct bits, every set of its size equally likely. A key of a classic
// filter sets a committee of k bits, one of a standard filter k committees of one bit.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/layout.h"

namespace exactbloom {

struct OccupancyMoments {
  double mean = 0.0;
  double variance = 0.0;
};

// Returns mean and variance of the number X of ones in a filter of `bits` bits after `keys` keys of
// `probes` bits each.
//   bits, keys, probes   as for FalsePositiveRate
// The paper's (43)-(45) subtract nearly equal numbers; this follows the variance committee by
// committee in sums of positive terms. Precision: relative error at most 1e-12, for any m. Time:
// O(log keys). Errors: nothing is returned for parameters outside their ranges. Source: (42), (16).
std::optional<OccupancyMoments> MomentsOfOnes(FilterKind kind, std::uint64_t bits,
                                              std::uint64_t keys, int probes);

}  // namespace exactbloom
