// The efficiency of filters: how well they use their bits.
//
// No set of m bits can represent n keys with a false-positive rate below 2^(-m/n). The efficiency
// of a filter is the share of its bits that such an ideal filter of the same rate would need:
//
//   E = -n log2(rate) / m        (69), (70)
//
// For each k the curve over n has a peak near half fill. Over all n and k the standard kind is best
// at one probe, where E tends to ln 2 from below as m grows, and its peaks fall with more probes
// (Theorem 26). The peaks of the classic kind rise with k, towards one for one key and m/2 probes
// (Conjecture 28, Corollary 30). Both are about a real n of at least 1. Of whole n the standard
// peaks rise at m = 64 from 17 to 18 probes, 0.6456 to 0.6476, and the classic ones fall from one
// to two, 0.6877177 to 0.6877170. At the sizes of an SSTable both kinds are at ln 2.
//
// Errors: outside the ranges a function that returns a double returns NaN, and any other one
// returns nothing. No function throws or allocates, but for more than kMaxProbes probes
// std::bad_alloc. Source: Burns 2019, arXiv 1908.04810, Section 4; numbers are its equations.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/layout.h"

namespace exactbloom {

// Returns -n log2(rate) / m with the exact rate. Parameters as for FalsePositiveRate.
// Precision: absolute error at most 1e-11. Errors: NaN for an empty filter, too. Source: (69),
// (70).
double Efficiency(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes);

// Returns about how many keys, as a real number, give a classic filter its highest efficiency for
// these probes: the n that fills half of the bits, ln(1/2) / ln(1 - k/m).
//   bits     m, 2 .. 2^53
//   probes   k, 1 .. bits - 1
// Precision: relative error at most 1e-15. Source: (74), (76).
double EfficientKeys(std::uint64_t bits, std::uint64_t probes);

// Returns about how many probes, as a real number, fill half of a classic filter's bits with these
// keys: m (1 - 2^(-1/n)).
//   bits, keys   m and n, 1 .. 2^53
// Precision: relative error at most 1e-15. Source: (77).
double EfficientProbes(std::uint64_t bits, std::uint64_t keys);

struct EfficiencyPeak {
  std::uint64_t keys = 0;
  std::uint64_t probes = 0;
  double efficiency = 0.0;
};

// Returns the highest efficiency of a filter with `probes` probes over all whole numbers of keys.
//   bits     m, 2 .. 2^53
//   probes   as for FalsePositiveRate, and less than `bits`
// The search starts from (76) and goes on while the efficiency rises. Precision: as Efficiency.
std::optional<EfficiencyPeak> PeakEfficiency(BloomKind kind, std::uint64_t bits, int probes);

// Returns the highest efficiency of a filter of `bits` bits over all whole n and k.
//   standard   k = 1, and n a whole number next to -ln 2 / ln(1 - 1/m)
//   classic    n = 1, k = floor(m/2), rate 1 / C(m, k); only for m = 3 one probe is better
//   bits       m, 2 .. 2^53 (for one bit every rate is one and the efficiency zero)
// Precision: absolute error at most 1e-11. Source: Theorem 26 and Corollary 27 with (74);
// Conjecture 28 with (75), and Corollary 30.
std::optional<EfficiencyPeak> MaximumEfficiency(BloomKind kind, std::uint64_t bits);

// Returns the number of keys, as a real number, at which Bloom's formula (1 - (1 - k/m)^n)^k gives
// k and k + 1 probes the same rate: the valley between two peaks of the curve that takes the best k
// for each n. Fewer keys want more probes. Between one and two probes it tends to m ln((1 +
// sqrt(5)) / 2).
//   bits     m, 3 .. 2^53
//   probes   k, 1 .. kMaxAnalysisProbes - 1, and below bits - 1
// Precision: relative error at most 1e-11. Source: Theorem 31.
double ApproximateValley(std::uint64_t bits, int probes);

// Returns the fewest keys for which k probes are, by the exact rate, at least as efficient as k
// + 1. Parameters as above. Source: Theorem 31, exactly.
std::optional<std::uint64_t> ExactValley(BloomKind kind, std::uint64_t bits, int probes);

// Returns m H(ones / m), the fewest bits to which a filter with that many ones compresses when
// nothing else is known about it: its entropy, which is m at half fill.
//   bits   m, 1 .. 2^53
//   ones   0 .. bits
// Precision: relative error at most 1e-14.
double EntropyBits(std::uint64_t bits, std::uint64_t ones);

// Returns log2 C(m, k), the length of a lossless code of a classic filter of one key, for which all
// k-subsets are equally likely; it is also that of any filter whose number of ones is known.
// Parameters as above, with k = ones. Precision: relative error at most 1e-13.
// Source: Section 4.3.
double LosslessCodeBits(std::uint64_t bits, std::uint64_t ones);

}  // namespace exactbloom
