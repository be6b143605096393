// The multi-precision oracle of the analysis: the textbook formulas with their alternating sums,
// evaluated with enough digits for the cancellation not to matter.
//
// V_i is the probability that i given bits are all still zero, D_r the probability that r given
// bits are all one; docs/analysis.md derives everything from these two.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <functional>

namespace exactbloom::oracle {

using Real = mpf_class;
using ZeroProbability = std::function<Real(std::uint64_t)>;  // V_i as a function of i

// C(n, r) for a small r and any n.
Real Binomial(std::uint64_t n, std::uint64_t r);

// base^exponent.
Real Power(const Real& base, std::uint64_t exponent);

// V_i after `keys` committees of `size` distinct bits each out of `bits`.
ZeroProbability CommitteesZero(std::uint64_t bits, std::uint64_t keys, std::uint64_t size);

// V_i after `balls` independent balls.
ZeroProbability BallsZero(std::uint64_t bits, std::uint64_t balls);

// D_r = sum_i (-1)^i C(r,i) V_i: equations (8) and (15).
Real AllOnes(const ZeroProbability& zero, std::uint64_t r);

// Equation (59).
Real ClassicRate(std::uint64_t bits, std::uint64_t keys, int probes);

// Equation (53).
Real StandardRate(std::uint64_t bits, std::uint64_t keys, int probes);

// log2 of a positive number of any magnitude.
double Log2(const Real& x);

// |value - truth| / |truth|; the distance itself where the truth is zero.
double RelativeError(double value, const Real& truth);

}  // namespace exactbloom::oracle
