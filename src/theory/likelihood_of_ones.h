// Whether one key more makes a number of ones more likely.
//
// n keys, of which each sets its bits inside a given set of u with probability F(u), have exactly X
// ones with probability C(m,X) sum_j (-1)^(X-j) C(X,j) F(j)^n. The sum is one of residues, so that
//
//   P(X | n) = C(m,X) X! / (2 pi i) * integral of F(u)^n / (u (u-1) ... (u-X)) du
//
// around 0 .. X, where F(u) is the polynomial C(u,k) / C(m,k) of a classic filter, or (u/m)^k of a
// standard one (Rice's integral). On an ellipse about the zeros of F and through u = m the
// integrand is smooth, with its peak at u = m where n is likely, and some ten to two hundred values
// give the integral to nearly all digits, whatever m.
#pragma once

#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom::analysis {

// The sign of P(X | n + 1) - P(X | n), as a number relative to the integral of the magnitudes.
//   keys   n, which sets `ones` within a few standard deviations of those expected
// Precision: absolute error about 1e-16 sqrt(bits).
double LikelihoodGain(BloomKind kind, std::uint64_t bits, std::uint64_t ones, int probes,
                      std::uint64_t keys);

}  // namespace exactbloom::analysis
