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
// Functions without a layout are for lines = 0. Efficiency throws std::bad_alloc as
// FalsePositiveRate does, no other function throws.
#pragma once

#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom {

// Returns -n log2(rate) / m with the exact rate. Parameters as for FalsePositiveRate.
// Precision: absolute error at most 1e-11 for lines = 0. Errors: NaN for parameters outside the
// ranges, and for an empty filter. Source: (69), (70).
double Efficiency(Layout layout, std::uint64_t bits, std::uint64_t keys, int probes);

// Returns about how many keys, as a real number, give the classic filter its highest efficiency for
// these probes: the n that fills half of the bits, ln(1/2) / ln(1 - k/m).
//   bits     m, 2 .. 2^53
//   probes   k, 1 .. bits - 1
// Errors: NaN outside these ranges. Source: (76).
double EfficientKeys(std::uint64_t bits, std::uint64_t probes);

// Returns about how many probes, as a real number, fill half of a classic filter's bits with these
// keys: m (1 - 2^(-1/n)).
//   bits   m, 1 .. 2^53
//   keys   n, 1 .. 2^53
// Errors: NaN outside these ranges. Source: (77).
double EfficientProbes(std::uint64_t bits, std::uint64_t keys);

// Returns the number of keys, as a real number, at which Bloom's approximation (64) gives k and k +
// 1 probes the same efficiency: the valley between two peaks of the curve that takes the best k for
// each n. Fewer keys want more probes.
//   bits     m, 2 .. 2^53
//   probes   k, 1 .. kMaxProbes - 1, and below bits - 1
// Precision: relative error at most 1e-9 of the approximation's valley. Errors: NaN outside these
// ranges. Source: Theorem 31 by way of (64), solved numerically.
double ApproximateValley(std::uint64_t bits, int probes);

// Returns the fewest keys for which k probes are, by the exact rate, at least as efficient as k
// + 1. Parameters and ranges as above; 0 for parameters outside them. Source: Theorem 31, exactly.
std::uint64_t ExactValley(FilterKind kind, std::uint64_t bits, int probes);

struct EfficiencyPeak {
  std::uint64_t keys = 0;
  std::uint64_t probes = 0;
  double efficiency = 0.0;
};

// Returns the highest efficiency of a filter of `bits` bits over all whole n and k.
//   standard   k = 1, and n the better whole number next to -ln 2 / ln(1 - 1/m)
//   classic    n = 1, k = floor(m/2), rate 1 / C(m, k); only for m = 3 the standard kind's peak is
//              better
//   bits       m, 2 .. 2^53 (for one bit every rate is one and the efficiency zero)
// Precision: relative error at most 1e-9. Errors: an efficiency of NaN outside the range.
// Source: Theorem 26 and Corollary 27; Conjecture 28 and Corollary 30.
EfficiencyPeak MaximumEfficiency(FilterKind kind, std::uint64_t bits);

// Returns m H(ones / m), the fewest bits to which a filter with that many one-bits compresses when
// nothing else is known about it: the entropy bound.
//   bits   m, 1 .. 2^53
//   ones   0 .. bits
// Errors: NaN outside these ranges.
double EntropyBits(std::uint64_t bits, std::uint64_t ones);

// Returns log2 C(m, k), the length of a lossless code of a classic filter of one key, for which all
// k-subsets are equally likely; also the exact length for a filter whose number of ones is known.
// Parameters and errors as above, with k = ones. Precision: relative error at most 1e-9. Source:
// Section 4.3.
double LosslessCodeBits(std::uint64_t bits, std::uint64_t ones);

}  // namespace exactbloom
