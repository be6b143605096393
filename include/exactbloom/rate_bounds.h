// Bounds and approximations of the false-positive rate, in closed form.
//
// They are provided for comparison, and because two bounds that are close enough decide in a
// fraction of a microsecond what the exact rate would decide. m is the number of bits,
// n of keys, k of probes. Their ranges are those of FalsePositiveRate. The usual approximation (58)
// is AsymptoticFalsePositiveRate, in false_positive_rate.h.
//
// Errors: outside the ranges a function that returns a double returns NaN, and any other one
// returns nothing. No function throws or allocates.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/interval.h"
#include "exactbloom/layout.h"

namespace exactbloom {

// Returns bounds of the exact rate.
//   classic    mu^(k) / m^(k) <= rate <= (1 - (1 - k/m)^n)^k,   mu = m (1 - (1 - k/m)^n)
//   standard   (1 - (1 - 1/m)^(nk))^k <= rate <= (1 - (1 - k/m)^n)^k, the lower one as if the k
//              queried bits were independent (57)
// Precision: relative error at most 1e-12; zero where the bound underflows. Source: Corollary 23.
std::optional<Interval> FalsePositiveRateBounds(BloomKind kind, std::uint64_t bits,
                                                std::uint64_t keys, int probes);

// Returns (1 - (1 - k/m)^n)^k, equation (65), which Bloom gave in 1970 for the classic kind. It is
// the exact rate of k separate arrays of m/k bits each. Precision: as above. For k > m it is 1.
double BloomRate(std::uint64_t bits, std::uint64_t keys, int probes);

}  // namespace exactbloom
