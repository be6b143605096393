#include "exactbloom/theory/occupancy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../analysis/positive_chain.h"
#include "../analysis/rate_chain.h"
#include "../analysis/scaled_rate.h"
#include "size_growth.h"

namespace exactbloom {
namespace {

using analysis::PositiveChain;
using analysis::RateChain;
using analysis::SizeDistribution;

// log V_1 and log of V_2 / V_1 of a department, with V_i the probability that i given bits are all
// zero.
struct ZeroLogarithms {
  double one = 0.0;
  double second = 0.0;
};

ZeroLogarithms ZerosOf(const Department& department, double m) {
  ZeroLogarithms zeros;
  for (const Committees& group : department) {
    if (group.count == 0) continue;
    const auto count = static_cast<double>(group.count);
    const auto k = static_cast<double>(group.size);
    zeros.one += count * std::log1p(-k / m);
    zeros.second += m > 1.0 ? count * std::log1p(-std::min(1.0, k / (m - 1.0))) : 0.0;
  }
  return zeros;
}

// 1 - V_1.
double Fill(const Department& department, double m) {
  return -std::expm1(ZerosOf(department, m).one);
}

// With Z = m - X zeros, one committee of k bits leaves Z' = Z - H, H hypergeometric, so that
//
//   (E Z')^2      = (1 - k/m)^2 (E Z)^2
//   E Z' E X'     = (1 - k/m) E Z E X + (1 - k/m) (k/m) (E Z)^2
//   Var Z'        = ((m-k)(m-k-1) / (m(m-1))) Var Z + (k(m-k) / (m^2 (m-1))) E Z E X
//
// which is a chain with non-negative entries; the three are its states, divided by m^2.
double VarianceOf(const Department& department, double m) {
  constexpr int kZeros = 1;
  constexpr int kProduct = 2;
  constexpr int kVariance = 3;
  if (m == 1.0) {
    const ZeroLogarithms zeros = ZerosOf(department, m);
    return std::exp(zeros.one) * -std::expm1(zeros.one);
  }
  PositiveChain::Row values{};
  values[kZeros] = 1.0;
  for (const Committees& group : department) {
    const auto k = static_cast<double>(group.size);
    const double share = k / m;
    PositiveChain chain(kVariance);
    chain.SetStay(kZeros, -share * (2.0 - share));
    chain.SetStay(kProduct, -share);
    chain.SetMove(kProduct, kZeros, (1.0 - share) * share);
    // 1 - (m-k)(m-k-1) / (m(m-1)) = k (2m - k - 1) / (m(m-1))
    chain.SetStay(kVariance, -share * ((2.0 * m - k - 1.0) / (m - 1.0)));
    chain.SetMove(kVariance, kProduct, share * ((m - k) / m) / (m - 1.0));
    chain.Run(group.count, values);
  }
  return values[kVariance] * m * m;
}

SizeDistribution OnesOf(const Department& department, double m) {
  SizeDistribution ones(0);
  for (const Committees& group : department) {
    for (std::uint64_t committee = 0; committee < group.count; ++committee) {
      for (std::uint64_t drawn = 0; drawn < group.size; ++drawn) {
        ones.DrawBit(m, static_cast<double>(drawn));
      }
    }
  }
  return ones;
}

// All sets of X bits are equally likely to be a department's ones. Starting from all m bits and
// removing one by one, the set shrinks to every possible X, and the bits counted so far with it.
void IntersectWith(SizeDistribution& counted, const MassFunction& ones, std::uint64_t m) {
  std::vector<double> sum;
  for (std::uint64_t size = m;; --size) {
    if (ones.At(size) > 0.0) counted.AddTo(sum, ones.At(size));
    if (size == ones.first) break;
    counted.RemoveBit(static_cast<double>(size));
  }
  counted.Assign(std::move(sum));
}

}  // namespace

std::optional<Occupancy> Occupancy::Create(std::uint64_t bits,
                                           std::vector<Department> departments) {
  if (bits < 1 || bits > analysis::kMaxCount || departments.empty()) return std::nullopt;
  for (const Department& department : departments) {
    for (const Committees& group : department) {
      const bool valid =
          group.size >= 1 && group.size <= bits && group.count <= analysis::kMaxCount;
      if (!valid) return std::nullopt;
    }
  }
  return Occupancy(bits, std::move(departments));
}

std::optional<Occupancy> Occupancy::OfFilter(FilterKind kind, std::uint64_t bits,
                                             std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return std::nullopt;
  const auto k = static_cast<std::uint64_t>(probes);
  if (kind == FilterKind::kClassic) return Create(bits, {{{k, keys}}});
  return Create(bits, {{{1, keys * k}}});
}

double Occupancy::Mean() const {
  const auto m = static_cast<double>(bits_);
  double mean = m;
  for (const Department& department : departments_) mean *= Fill(department, m);
  return mean;
}

// Given Y bits counted so far and X ones of the next department, the new number is hypergeometric.
// Its variance needs E[Y (m - Y)], which is m (m - 1) times the probability that one given bit is
// counted and another one is not; that again is a sum over the departments.
double Occupancy::Variance() const {
  const auto m = static_cast<double>(bits_);
  double mean = m;
  double variance = 0.0;
  double both = 1.0;      // P(two given bits are counted)
  double only_one = 0.0;  // P(the first is counted, the second is not)
  for (const Department& department : departments_) {
    const ZeroLogarithms zeros = ZerosOf(department, m);
    const double fill = -std::expm1(zeros.one);
    const double spread = VarianceOf(department, m);
    const double one_zero = std::exp(zeros.one) * -std::expm1(zeros.second);
    const double share = m > 1.0 ? (m - 1.0) * only_one * one_zero : 0.0;
    variance = variance * (spread / m / m) + variance * fill * fill +
               spread * (mean / m) * (mean / m) + share;
    only_one = only_one * fill + both * one_zero;
    both *= std::max(0.0, fill - one_zero);
    mean *= fill;
  }
  return variance;
}

Occupancy::ScaledProbability Occupancy::AllCounted(int r) const {
  ScaledProbability all{1.0, 0};
  for (const Department& department : departments_) {
    const double fill = Fill(department, static_cast<double>(bits_));
    RateChain chain(bits_, r, fill);
    for (const Committees& group : department) chain.AddCommittees(group.count, group.size);
    all.value *= chain.AllOnes(r);
    all.exponent += chain.ScaleExponent();
  }
  return all;
}

double Occupancy::BinomialMoment(int r) const {
  if (r < 0 || r > kMaxMoment) return std::numeric_limits<double>::quiet_NaN();
  if (r == 0) return 1.0;
  const ScaledProbability all = AllCounted(r);
  const auto m = static_cast<double>(bits_);
  double moment = all.value;
  for (int i = 0; i < r; ++i) {
    moment *= std::ldexp(std::max(0.0, m - i) / (i + 1), -all.exponent);
  }
  return moment;
}

double Occupancy::FactorialMoment(int r) const {
  double moment = BinomialMoment(r);
  for (int i = 2; i <= r; ++i) moment *= i;
  return moment;
}

double Occupancy::RawMoment(int r) const {
  if (r < 0 || r > kMaxMoment) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> stirling(static_cast<std::size_t>(r) + 1, 0.0);  // S(row, j)
  stirling[0] = 1.0;
  for (int row = 1; row <= r; ++row) {
    for (int j = row; j >= 1; --j) {
      const auto at = static_cast<std::size_t>(j);
      stirling[at] = stirling[at] * j + stirling[at - 1];
    }
    stirling[0] = 0.0;
  }
  double moment = 0.0;
  for (int j = 0; j <= r; ++j) {
    const double weight = stirling[static_cast<std::size_t>(j)];
    if (weight > 0.0) moment += weight * FactorialMoment(j);
  }
  return moment;
}

MassFunction Occupancy::Pmf() const {
  const auto m = static_cast<double>(bits_);
  SizeDistribution counted = OnesOf(departments_.front(), m);
  for (std::size_t d = 1; d < departments_.size(); ++d) {
    IntersectWith(counted, OnesOf(departments_[d], m).Result(), bits_);
  }
  return counted.Result();
}

}  // namespace exactbloom
