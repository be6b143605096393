#include "exactbloom/theory/occupancy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "../analysis/positive_chain.h"
#include "../analysis/rate_chain.h"
#include "../analysis/scaled_rate.h"
#include "log_of_rest.h"
#include "size_distribution.h"

namespace exactbloom {
namespace {

using analysis::PositiveChain;
using analysis::RateChain;
using analysis::SizeDistribution;

// What the keys of a filter draw.
Committees CommitteesOf(BloomKind kind, std::uint64_t keys, int probes) {
  const auto k = static_cast<std::uint64_t>(probes);
  return kind == BloomKind::kClassic ? Committees{k, keys} : Committees{1, keys * k};
}

// The logarithm of the probability that all committees miss a bit, given that they missed `missed`
// others.
template <typename Groups>
double LogMiss(const Groups& groups, double m, double missed) {
  double sum = 0.0;
  for (const Committees& group : groups) {
    if (group.count == 0) continue;
    const double left = m - missed;
    sum += static_cast<double>(group.count) *
           analysis::LogOfRest(std::min(left, static_cast<double>(group.size)), left);
  }
  return sum;
}

// The probability that a given bit is one.
template <typename Groups>
double Fill(const Groups& groups, double m) {
  return -std::expm1(LogMiss(groups, m, 0.0));
}

// The variance of the number of ones of a department. With Z = m - X zeros, one committee of k bits
// leaves Z' = Z - H, H hypergeometric, so that
//
//   (E Z')^2      = (1 - k/m)^2 (E Z)^2
//   E Z' E X'     = (1 - k/m) E Z E X + (1 - k/m) (k/m) (E Z)^2
//   Var Z'        = ((m-k)(m-k-1) / (m(m-1))) Var Z + (k(m-k) / (m^2 (m-1))) E Z E X
//
// which is a chain with non-negative entries; the three are its states, divided by m^2.
template <typename Groups>
double Spread(const Groups& groups, double m) {
  constexpr int kZeros = 1;
  constexpr int kProduct = 2;
  constexpr int kVariance = 3;
  if (m == 1.0) return 0.0;  // the bit is one after the first committee
  PositiveChain::Row values = PositiveChain::RowOf(kVariance);
  values[kZeros] = 1.0;
  for (const Committees& group : groups) {
    const auto k = static_cast<double>(group.size);
    const double share = k / m;
    const double rest = (m - k) / m;
    PositiveChain chain(kVariance);
    chain.SetStay(kZeros, -share * (2.0 - share), rest * rest);
    chain.SetStay(kProduct, -share, rest);
    chain.SetMove(kProduct, kZeros, rest * share);
    // 1 - (m-k)(m-k-1) / (m(m-1)) = k (2m - k - 1) / (m(m-1))
    chain.SetStay(kVariance, -share * ((2.0 * m - k - 1.0) / (m - 1.0)),
                  rest * (std::max(0.0, m - k - 1.0) / (m - 1.0)));
    chain.SetMove(kVariance, kProduct, share * rest / (m - 1.0));
    chain.Run(group.count, values);
  }
  return values[kVariance] * m * m;
}

void AddDepartment(RateChain& chain, const Department& department) {
  for (const Committees& group : department) chain.AddCommittees(group.count, group.size);
}

// The probability that two given bits are both ones.
double BothOnes(const Department& department, std::uint64_t bits) {
  if (bits == 1) return 0.0;  // there is one
  RateChain chain(bits, 2, Fill(department, static_cast<double>(bits)));
  AddDepartment(chain, department);
  return std::ldexp(chain.AllOnes(2), -2 * chain.ScaleExponent());
}

void DrawDepartment(SizeDistribution& ones, const Department& department, double m) {
  for (const Committees& group : department) {
    for (std::uint64_t committee = 0; committee < group.count; ++committee) {
      for (std::uint64_t drawn = 0; drawn < group.size; ++drawn) {
        ones.DrawBit(m, static_cast<double>(drawn));
      }
    }
  }
}

SizeDistribution OnesOf(const Department& department, double m) {
  SizeDistribution ones(0);
  DrawDepartment(ones, department, m);
  return ones;
}

// By how many powers of two a result is scaled that a bit has with this probability.
int ScaleExponent(double fill) { return fill > 0.0 ? std::max(0, -std::ilogb(fill)) : 0; }

// The chain of all ones, for up to r given bits. The shared committees come last: the bits that
// they leave must be ones of all departments. `fill` is the share of all ones; no factor scales
// beyond it, since shared committees can outweigh the departments by far.
RateChain ChainOf(const std::vector<Department>& departments, const Department& shared,
                  std::uint64_t bits, int r, double fill) {
  RateChain chain(bits, r, 1.0);
  chain.StartWithAllOnes();
  int left = ScaleExponent(fill);
  for (const Department& department : departments) {
    const int scale = std::min(left, ScaleExponent(Fill(department, static_cast<double>(bits))));
    left -= scale;
    RateChain next(bits, r, std::ldexp(1.0, -scale));
    AddDepartment(next, department);
    chain.IntersectWith(next);
  }
  AddDepartment(chain, shared);
  return chain;
}

// The mean and the variance of the number of bits that are in several independent sets, all sets of
// equal size being equally likely, and what else the next set needs. Given Y bits so far and X of
// the next set, the new number is hypergeometric. Its variance needs E[Y (m - Y)], which is m (m -
// 1) times the probability that one given bit is in and another one is not; that again is a sum
// over the sets.
struct SharedBits {
  double m;
  double mean = m;
  double variance = 0.0;
  double both = 1.0;      // P(two given bits are in)
  double only_one = 0.0;  // P(the first is in, the second is not)

  // A set that has a given bit with probability `fill`, whose size varies by `spread`, and that has
  // both of two given bits with probability `next_both`, only the first with `next_only`.
  void Intersect(double fill, double spread, double next_both, double next_only) {
    variance = variance * (spread / m / m) + variance * fill * fill +
               spread * (mean / m) * (mean / m) + (m - 1.0) * only_one * next_only;
    only_one = only_one * fill + both * next_only;
    both *= next_both;
    mean *= fill;
  }
};

// P(a given bit is a one of a department, another one is not): V_1 - V_2 = V_1 (1 - V_2 / V_1).
template <typename Groups>
double OnlyOne(const Groups& groups, double m) {
  return m > 1.0 ? std::exp(LogMiss(groups, m, 0.0)) * -std::expm1(LogMiss(groups, m, 1.0)) : 0.0;
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

// S(r, j) for j = 0 .. r.
std::vector<double> StirlingNumbers(int r) {
  std::vector<double> numbers(static_cast<std::size_t>(r) + 1, 0.0);
  numbers[0] = 1.0;
  for (int row = 1; row <= r; ++row) {
    for (auto j = static_cast<std::size_t>(row); j >= 1; --j) {
      numbers[j] = numbers[j] * static_cast<double>(j) + numbers[j - 1];
    }
    numbers[0] = 0.0;
  }
  return numbers;
}

double Draws(const Department& department) {
  double draws = 0.0;
  for (const Committees& group : department) {
    draws += static_cast<double>(group.size) * static_cast<double>(group.count);
  }
  return draws;
}

bool IsDepartment(const Department& department, std::uint64_t bits) {
  return std::all_of(department.begin(), department.end(), [bits](const Committees& group) {
    return group.size >= 1 && group.size <= bits && group.count <= analysis::kMaxCount;
  });
}

}  // namespace

std::optional<Occupancy> Occupancy::OfFilter(BloomKind kind, std::uint64_t bits, std::uint64_t keys,
                                             int probes) {
  return OfIntersection(kind, bits, {keys}, probes);
}

std::optional<Occupancy> Occupancy::OfUnion(std::uint64_t bits, Department committees) {
  return OfIntersection(bits, {std::move(committees)});
}

std::optional<Occupancy> Occupancy::OfIntersection(BloomKind kind, std::uint64_t bits,
                                                   const std::vector<std::uint64_t>& keys,
                                                   int probes, std::uint64_t shared) {
  std::vector<Department> departments;
  for (const std::uint64_t n : keys) {
    if (!analysis::IsGeometry(kind, bits, n, probes) || shared > n) return std::nullopt;
    departments.push_back({CommitteesOf(kind, n - shared, probes)});
  }
  if (departments.empty()) return std::nullopt;
  return Occupancy(bits, std::move(departments), {CommitteesOf(kind, shared, probes)});
}

std::optional<Occupancy> Occupancy::OfIntersection(std::uint64_t bits,
                                                   std::vector<Department> departments) {
  if (bits < 1 || bits > analysis::kMaxCount || departments.empty()) return std::nullopt;
  for (const Department& department : departments) {
    if (!IsDepartment(department, bits)) return std::nullopt;
  }
  return Occupancy(bits, std::move(departments));
}

double Occupancy::Mean() const {
  const auto m = static_cast<double>(bits_);
  double mean = m;
  for (const Department& department : departments_) mean *= Fill(department, m);
  return m * Fill(shared_, m) + std::exp(LogMiss(shared_, m, 0.0)) * mean;
}

// What is no one is outside the shared department and outside the intersection of the others, which
// are two independent sets; so the zeros have the variance.
double Occupancy::Variance() const {
  const auto m = static_cast<double>(bits_);
  SharedBits ones{m};
  double log_all = 0.0;  // of the probability that a bit is a one of all departments
  for (const Department& department : departments_) {
    const double fill = Fill(department, m);
    log_all += std::log1p(-std::exp(LogMiss(department, m, 0.0)));
    ones.Intersect(fill, Spread(department, m), BothOnes(department, bits_),
                   OnlyOne(department, m));
  }
  const double missed = std::exp(LogMiss(shared_, m, 0.0));
  if (missed == 1.0) return ones.variance;
  SharedBits zeros{m};
  zeros.mean = m * -std::expm1(log_all);
  zeros.variance = ones.variance;
  zeros.only_one = ones.only_one;  // as likely in the other order
  zeros.Intersect(missed, Spread(shared_, m), 0.0, OnlyOne(shared_, m));
  return zeros.variance;
}

double Occupancy::BinomialMoment(int r) const { return Moment(r, /*is_factorial=*/false); }

double Occupancy::FactorialMoment(int r) const { return Moment(r, /*is_factorial=*/true); }

// C(m,r) D_r, or r! times that, with a factor of either and the scale of r D_r in each step, so
// that nothing overflows or vanishes before the moment does.
double Occupancy::Moment(int r, bool is_factorial) const {
  if (r < 0 || r > kMaxMoment) return std::numeric_limits<double>::quiet_NaN();
  if (r == 0) return 1.0;
  const auto m = static_cast<double>(bits_);
  const RateChain chain = ChainOf(departments_, shared_, bits_, r, Mean() / m);
  double moment = chain.AllOnes(r);
  for (int i = 0; i < r; ++i) {
    const double factor = std::max(0.0, m - i) / (is_factorial ? 1 : i + 1);
    moment *= std::ldexp(factor, -chain.ScaleExponent());
  }
  return moment;
}

double Occupancy::FalsePositiveRate(BloomKind kind, int probes) const {
  if (!analysis::IsGeometry(kind, bits_, 0, probes)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const RateChain chain =
      ChainOf(departments_, shared_, bits_, probes, Mean() / static_cast<double>(bits_));
  const double scaled =
      kind == BloomKind::kClassic ? chain.AllOnes(probes) : chain.AllDrawsOne(probes);
  return std::ldexp(scaled, -probes * chain.ScaleExponent());
}

double Occupancy::RawMoment(int r) const {
  if (r < 0 || r > kMaxMoment) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> stirling = StirlingNumbers(r);
  double moment = 0.0;
  for (int j = r == 0 ? 0 : 1; j <= r; ++j) {
    moment += stirling[static_cast<std::size_t>(j)] * FactorialMoment(j);
  }
  return moment;
}

std::optional<MassFunction> Occupancy::Pmf() const {
  if (PmfSteps() > kMostPmfSteps) return std::nullopt;
  const auto m = static_cast<double>(bits_);
  SizeDistribution counted = OnesOf(departments_.front(), m);
  for (std::size_t d = 1; d < departments_.size(); ++d) {
    IntersectWith(counted, OnesOf(departments_[d], m).Result(), bits_);
  }
  DrawDepartment(counted, shared_, m);
  return counted.Result();
}

// A standard deviation of the ones is at most .32 sqrt(m), and 79 of them have probabilities in the
// range of double. The tails of a Poisson distribution have some hundred and fifty.
double Occupancy::PmfSteps() const {
  const auto m = static_cast<double>(bits_);
  const double widest = std::min(m, 25.0 * std::sqrt(m) + 150.0);
  double steps = static_cast<double>(departments_.size() - 1) * m * widest;
  for (const Department& department : departments_) {
    const double draws = Draws(department);
    steps += draws * std::min(widest, draws);
  }
  return steps + Draws(shared_) * widest;
}

std::optional<OccupancyMoments> MomentsOfOnes(BloomKind kind, std::uint64_t bits,
                                              std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return std::nullopt;
  const auto m = static_cast<double>(bits);
  const std::array<Committees, 1> groups{CommitteesOf(kind, keys, probes)};
  return OccupancyMoments{m * Fill(groups, m), Spread(groups, m)};
}

}  // namespace exactbloom
