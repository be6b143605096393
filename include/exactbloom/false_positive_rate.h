// The exact false-positive rate of classic and standard Bloom filters.
//
// The rate is the probability that a key which was not added finds all of its k bits set, averaged
// over the hash functions. With V_i the probability that i given bits are all still zero after n
// keys,
//
//   classic    rate = sum_i (-1)^i C(k,i) V_i,         V_i = (C(m-i,k) / C(m,k))^n
//   standard   rate = sum_d S(k,d) m^(d) / m^k * D_d,  D_d = sum_i (-1)^i C(d,i) V_i,
//                                                      V_i = (1 - i/m)^(nk)
//
// (Burns 2019, arXiv 1908.04810, equations 60 and 56.) In floating point these sums cancel and
// leave no correct digits. The functions below instead follow the k queried bits as a Markov chain;
// its state is the number of bits that are still zero, and all of its terms are positive.
// docs/theory.md derives it.
//
// With up to kMaxProbes probes the functions do not allocate, and throw nothing. With more they
// throw std::bad_alloc when memory is short.
#pragma once

#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom {

// Returns the exact false-positive rate of a filter of `bits` bits that holds `keys` distinct keys
// with `probes` bits each.
//   bits     m, 1 .. 2^53
//   keys     n, 0 .. 2^53; an empty filter has rate 0
//   probes   k, 1 .. kMaxAnalysisProbes; for the classic kind at most `bits`
// Precision: a relative error of at most 1e-12 for bits and keys up to 1e12, as long as the rate is
// a normal double (at least 2.3e-308). A smaller one is rounded to a subnormal number or zero: see
// Log2FalsePositiveRate. Time: microseconds; with 255 probes up to a tenth of a second. Errors: NaN
// for parameters outside their ranges. Source: equations (53) to (63), in the positive form.
double FalsePositiveRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes);

// Returns log2 of the same rate, which stays finite where the rate itself underflows.
// Parameters, errors and source as above; -infinity for an empty filter.
// Precision: absolute error at most 2e-12.
double Log2FalsePositiveRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes);

// Returns the usual approximation of both rates, (1 - e^(-kn/m))^k, equation (58). It is a limit
// for large m and n, provided for comparison and not for sizing. Parameters and errors as above.
double AsymptoticFalsePositiveRate(std::uint64_t bits, std::uint64_t keys, int probes);

// Returns the false-positive rate of one filter whose array has `ones` bits set: (X/m)^k for the
// standard kind, C(X,k) / C(m,k) for the classic one. It is not averaged over hash functions, so it
// is the rate to compare with a measurement of one filter.
//   ones     X, 0 .. bits
// Precision: relative error at most 1e-13. Other parameters and errors as above.
// Source: the summands of (53) and (59).
double FalsePositiveRateGivenFill(BloomKind kind, std::uint64_t bits, std::uint64_t ones,
                                  int probes);

// The bits of a cache line of 64 bytes, in which RocksDB's Bloom filter has all bits of a key.
inline constexpr std::uint64_t kCacheLineBits = 512;

// Returns the rate of a filter of `lines` cache lines, of which each key has one: the mean over J
// of the exact standard rate of a line with J keys, where J is Binomial(n, 1 / lines). It is the
// rate of RocksDB's own Bloom filter as far as the bits of a key are independent: RocksDB draws
// them from one word of 32 bits, and its measured rates are within 1% of this one from 100 to 10^7
// keys at 5 and 10 bits per key.
//   lines    1 .. 2^44
//   keys     n, 0 .. 2^53; an empty filter has rate 0
//   probes   k, 1 .. kMaxAnalysisProbes
// Precision: relative error at most 1e-11 while the rate is a normal double. Time: up to some
// milliseconds; with 255 probes and nearly full lines two seconds. Errors: NaN for parameters
// outside their ranges. Source: Putze, Sanders and Singler, Cache-, Hash- and Space-Efficient Bloom
// Filters, 2007, whose sum is over a Poisson distribution of J.
double CacheLineFalsePositiveRate(std::uint64_t lines, std::uint64_t keys, int probes);

}  // namespace exactbloom
