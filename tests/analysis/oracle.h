// The multi-precision oracle of the analysis: the textbook formulas with their alternating sums,
// evaluated with enough digits for the cancellation not to matter.
//
// V_i is the probability that i given bits are all still zero, D_r the probability that r given
// bits are all one; docs/theory.md derives everything from these two.
#pragma once

#include <gmpxx.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace exactbloom::oracle {

using Real = mpf_class;
using ZeroProbability = std::function<Real(std::uint64_t)>;  // V_i as a function of i

// Rates go down to about 2^-2600 (64 probes, 1e12 bits, one key) and the terms of their sums up to
// 2^64; this leaves several thousand correct bits.
constexpr mp_bitcnt_t kPrecision = 8192;
inline const bool kPrecisionIsSet = (mpf_set_default_prec(kPrecision), true);

// S(n, r), Stirling numbers of the second kind.
inline Real Stirling(int n, int r) {
  if (n == r) return 1;
  if (r == 0 || r > n) return 0;
  std::vector<Real> row(static_cast<std::size_t>(r) + 1, Real(0));
  row[0] = 1;
  for (int i = 1; i <= n; ++i) {
    for (int j = r; j >= 1; --j) {
      const auto at = static_cast<std::size_t>(j);
      row[at] = row[at] * j + row[at - 1];
    }
    row[0] = 0;
  }
  return row.back();
}

// The same V_i for i = 0 .. most, computed once.
inline ZeroProbability Remembered(const ZeroProbability& zero, int most) {
  std::vector<Real> values;
  for (int i = 0; i <= most; ++i) values.push_back(zero(static_cast<std::uint64_t>(i)));
  return [values](std::uint64_t i) { return values[i]; };
}

// C(n, r) for a small r and any n.
inline Real Binomial(std::uint64_t n, std::uint64_t r) {
  if (r > n) return 0;
  Real result = 1;
  for (std::uint64_t i = 1; i <= r; ++i) result = result * Real(n - r + i) / Real(i);
  return result;
}

// base^exponent.
inline Real Power(const Real& base, std::uint64_t exponent) {
  Real result;
  mpf_pow_ui(result.get_mpf_t(), base.get_mpf_t(), exponent);
  return result;
}

// V_i after `keys` committees of `size` distinct bits each out of `bits`.
inline ZeroProbability CommitteesZero(std::uint64_t bits, std::uint64_t keys, std::uint64_t size) {
  return [=](std::uint64_t i) -> Real {
    if (keys == 0) return 1;
    if (i + size > bits) return 0;
    Real one_key = 1;  // C(m-i, k) / C(m, k)
    for (std::uint64_t t = 0; t < size; ++t) one_key *= Real(bits - i - t) / Real(bits - t);
    return Power(one_key, keys);
  };
}

// V_i after `balls` independent balls.
inline ZeroProbability BallsZero(std::uint64_t bits, std::uint64_t balls) {
  return [=](std::uint64_t i) -> Real {
    return i > bits ? Real(0) : Power(Real(bits - i) / Real(bits), balls);
  };
}

// D_r = sum_i (-1)^i C(r,i) V_i: equations (8) and (15).
inline Real AllOnes(const ZeroProbability& zero, std::uint64_t r) {
  Real sum = 0;
  for (std::uint64_t i = 0; i <= r; ++i) {
    const Real term = Binomial(r, i) * zero(i);
    if (i % 2 == 0) {
      sum += term;
    } else {
      sum -= term;
    }
  }
  return sum;
}

// Equation (60).
inline Real ClassicRate(std::uint64_t bits, std::uint64_t keys, int probes) {
  const auto k = static_cast<std::uint64_t>(probes);
  return AllOnes(CommitteesZero(bits, keys, k), k);
}

// Equation (56).
inline Real StandardRate(std::uint64_t bits, std::uint64_t keys, int probes) {
  const ZeroProbability zero =
      Remembered(BallsZero(bits, keys * static_cast<std::uint64_t>(probes)), probes);
  Real sum = 0;
  Real falling_over_power = 1;  // m^(d) / m^k, built up
  for (int t = 0; t < probes; ++t) falling_over_power /= Real(bits);
  for (int d = 1; d <= probes && static_cast<std::uint64_t>(d) <= bits; ++d) {
    falling_over_power *= Real(bits - static_cast<std::uint64_t>(d - 1));
    sum += Stirling(probes, d) * falling_over_power * AllOnes(zero, static_cast<std::uint64_t>(d));
  }
  return sum;
}

// log2 of a positive number of any magnitude.
inline double Log2(const Real& x) {
  long exponent = 0;
  const double mantissa = mpf_get_d_2exp(&exponent, x.get_mpf_t());
  return std::log2(mantissa) + static_cast<double>(exponent);
}

// |value - truth| / |truth|; the distance itself where the truth is zero.
inline double RelativeError(double value, const Real& truth) {
  const Real difference = abs(Real(value) - truth);
  if (truth == 0) return difference.get_d();
  return Real(difference / abs(truth)).get_d();
}

}  // namespace exactbloom::oracle
