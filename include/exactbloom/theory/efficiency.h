// The efficiency of filters: how well they use their bits.
//
// No set of m bits can represent n keys with a false-positive rate below 2^(-m/n). The efficiency
// of a filter is the share of its bits that such an ideal filter of the same rate would need:
//
//   E = -n log2(rate) / m        (equations 69 and 70)
//
// The standard kind is best at one probe and falls towards ln 2 with more; the classic kind rises
// with k towards one (Theorem 26, Conjecture 28). So a classic filter of one key and m/2 probes
// wastes almost nothing; at the sizes of an SSTable both are at ln 2 = 69%.
//
// The function does not allocate, and throws nothing.
#pragma once

#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom {

// Returns -n log2(rate) / m with the exact rate. Parameters as for FalsePositiveRate.
// Precision: absolute error at most 1e-11. Errors: NaN for parameters outside the
// ranges, and for an empty filter. Source: (69), (70).
double Efficiency(FilterKind kind, std::uint64_t bits, std::uint64_t keys, int probes);

}  // namespace exactbloom
