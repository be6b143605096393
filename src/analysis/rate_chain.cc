#include "rate_chain.h"

#include <algorithm>
#include <cmath>

namespace exactbloom::analysis {
namespace {

// The matrix of one committee is computed in extended precision: an error there is common to all
// entries and grows with the number of probes, while the roundings of the squarings stay
// independent.
using Extended = long double;

std::size_t Index(int i) { return static_cast<std::size_t>(i); }

Extended Binomial(Extended n, int r) {
  Extended result = 1;
  for (int i = 1; i <= r; ++i) result = result * (n - r + i) / i;
  return result;
}

// P(j, j - hits) for the fewest hits possible, which leave the committee no choice outside the j
// followed bits: C(j, hits) / C(m, k). Fewer than j bits are outside the committee here.
Extended FewestHits(Extended m, Extended k, int j, int hits) {
  return Binomial(j, hits) / Binomial(m, static_cast<int>(std::min(k, m - k)));
}

}  // namespace

RateChain::RateChain(std::uint64_t bits, int most_followed, double expected_fill)
    : bits_(bits),
      states_(static_cast<int>(std::min<std::uint64_t>(bits, Index(most_followed)))),
      scale_exponent_(expected_fill > 0.0 ? std::max(0, -std::ilogb(expected_fill)) : 0),
      all_ones_(PositiveChain::RowOf(most_followed)) {
  all_ones_[0] = 1.0;
}

PositiveChain RateChain::Committee(std::uint64_t size) const {
  PositiveChain chain(states_);
  const Extended scale = std::ldexp(Extended{1}, scale_exponent_);
  const auto m = static_cast<Extended>(bits_);
  const auto k = static_cast<Extended>(size);

  Extended no_hit = 1;  // P(j, j)
  for (int j = 1; j <= states_; ++j) {
    no_hit *= std::max(Extended{0}, m - k - (j - 1)) / (m - (j - 1));
    const int most_hits = size < Index(j) ? static_cast<int>(size) : j;
    int hits = 0;
    Extended term = no_hit;
    if (j + k > m) {  // the committee has too little room to miss them all
      hits = static_cast<int>(j + k - m);
      term = FewestHits(m, k, j, hits) * std::ldexp(Extended{1}, hits * scale_exponent_);
    }
    // From h to h + 1 hits, P(j, j-h) changes by the factor (j-h)(k-h) / ((h+1)(m-j-k+h+1)).
    double leave = 0.0;
    for (;; ++hits) {
      if (hits > 0) {
        chain.SetMove(j, j - hits, static_cast<double>(term));
        leave += static_cast<double>(std::ldexp(term, -hits * scale_exponent_));
      }
      if (hits == most_hits) break;
      term *= scale * (j - hits) * (k - hits) / ((hits + 1) * (m - j - k + hits + 1));
    }
    chain.SetStay(j, -leave);
  }
  return chain;
}

void RateChain::AddCommittees(std::uint64_t count, std::uint64_t size) {
  PositiveChain chain = Committee(size);
  chain.Run(count, all_ones_);
}

void RateChain::StartWithAllOnes() {
  for (int j = 0; j <= states_; ++j) all_ones_[Index(j)] = 1.0;
}

void RateChain::IntersectWith(const RateChain& other) {
  scale_exponent_ += other.scale_exponent_;
  for (int j = 0; j <= states_; ++j) all_ones_[Index(j)] *= other.all_ones_[Index(j)];
}

// The distribution of the distinct draws is built draw by draw; its entry d carries the factor
// scale^(draws-d) that AllOnes(d) lacks.
double RateChain::AllDrawsOne(int draws) const {
  const auto m = static_cast<double>(bits_);
  PositiveChain::Row distinct = PositiveChain::RowOf(draws);
  distinct[0] = 1.0;
  for (int draw = 1; draw <= draws; ++draw) {
    for (int d = draw; d >= 0; --d) {
      const double old_bit = std::ldexp(distinct[Index(d)] * (d / m), scale_exponent_);
      const double new_bit =
          d > 0 ? distinct[Index(d - 1)] * std::max(0.0, (m - (d - 1)) / m) : 0.0;
      distinct[Index(d)] = old_bit + new_bit;
    }
  }
  double result = 0.0;
  for (int d = 1; d <= draws; ++d) result += distinct[Index(d)] * AllOnes(d);
  return result;
}

}  // namespace exactbloom::analysis
