#include "rate_chain.h"

#include <algorithm>
#include <cmath>

namespace exactbloom::analysis {
namespace {

// The starting matrix is computed in extended precision: an error there is common to all entries
// and grows with the number of probes, while the roundings of the squarings stay independent.
using Extended = long double;

std::size_t Index(int i) { return static_cast<std::size_t>(i); }

Extended Binomial(Extended n, int r) {
  Extended result = 1;
  for (int i = 1; i <= r; ++i) result = result * (n - r + i) / i;
  return result;
}

// P(j, j - hits) for the fewest hits possible, which leave the key no choice outside the j queried
// bits: C(j, hits) / C(m, k). Only filters of less than two keys' bits come here.
Extended FewestHits(Extended m, int k, int j, int hits) {
  return Binomial(j, hits) / Binomial(m, k);
}

}  // namespace

RateChain::RateChain(std::uint64_t steps, int states, double expected_fill)
    : steps_(steps), states_(states) {
  scale_exponent_ = expected_fill > 0.0 ? std::max(0, -std::ilogb(expected_fill)) : 0;
  for (int j = 0; j <= states_; ++j) {
    std::fill_n(move_[Index(j)].begin(), states_ + 1, 0.0);
    SetStay(j, 0.0);
    absorbed_[Index(j)] = j == 0 ? 1.0 : 0.0;
  }
}

void RateChain::SetStay(int state, double leave) {
  leave_[Index(state)] = leave;
  stay_[Index(state)] = 1.0 + leave;
}

RateChain RateChain::ForClassicKeys(std::uint64_t bits, std::uint64_t keys, int probes) {
  const double fill =
      -std::expm1(static_cast<double>(keys) * std::log1p(-probes / static_cast<double>(bits)));
  RateChain chain(keys, probes, fill);
  const Extended scale = std::ldexp(Extended{1}, chain.scale_exponent_);
  const auto m = static_cast<Extended>(bits);
  const Extended k = probes;

  Extended no_hit = 1;  // P(j, j)
  for (int j = 1; j <= probes; ++j) {
    no_hit *= std::max(Extended{0}, m - k - (j - 1)) / (m - (j - 1));
    int hits = 0;
    Extended term = no_hit;
    if (static_cast<Extended>(j) + k > m) {  // the key has too little room to miss them all
      hits = static_cast<int>(static_cast<Extended>(j) + k - m);
      term = FewestHits(m, probes, j, hits) * std::ldexp(Extended{1}, hits * chain.scale_exponent_);
    }
    // From h - 1 to h hits, P(j, j-h) changes by the factor (j-h+1)(k-h+1) / (h (m-j-k+h)).
    double leave = 0.0;
    for (;; ++hits) {
      if (hits > 0) {
        chain.move_[Index(j)][Index(j - hits)] = static_cast<double>(term);
        leave += static_cast<double>(std::ldexp(term, -hits * chain.scale_exponent_));
      }
      if (hits == j) break;
      term *= scale * (j - hits) * (k - hits) / ((hits + 1) * (m - j - k + hits + 1));
    }
    chain.SetStay(j, -leave);
  }
  return chain;
}

RateChain RateChain::ForBalls(std::uint64_t bits, std::uint64_t balls, int probes) {
  const auto m = static_cast<double>(bits);
  const double fill = -std::expm1(static_cast<double>(balls) * std::log1p(-1.0 / m));
  RateChain chain(balls, probes, fill);
  const int states =
      static_cast<int>(std::min<std::uint64_t>(bits, static_cast<std::uint64_t>(probes)));
  for (int j = 1; j <= states; ++j) {
    chain.move_[Index(j)][Index(j - 1)] = std::ldexp(j / m, chain.scale_exponent_);
    chain.SetStay(j, -(j / m));
  }
  return chain;
}

void RateChain::Run() {
  for (std::uint64_t left = steps_; left > 0; left >>= 1) {
    if ((left & 1) != 0) Apply();
    if (left > 1) Square();
  }
}

// absorbed = P * absorbed. Downwards, because row i reads the old entries below it.
void RateChain::Apply() {
  for (int i = states_; i >= 1; --i) {
    double sum = stay_[Index(i)] * absorbed_[Index(i)];
    for (int j = 0; j < i; ++j) sum += move_[Index(i)][Index(j)] * absorbed_[Index(j)];
    absorbed_[Index(i)] = sum;
  }
}

// S = 2S + S^2 off the diagonal, where 2 + S_ii + S_jj = P_ii + P_jj: a sum of positive terms.
void RateChain::Square() {
  Row sum;
  for (int i = states_; i >= 1; --i) {
    Row& row = move_[Index(i)];
    for (int j = 0; j < i; ++j) sum[Index(j)] = (stay_[Index(i)] + stay_[Index(j)]) * row[Index(j)];
    for (int l = 1; l < i; ++l) {
      const double to_l = row[Index(l)];
      const Row& from_l = move_[Index(l)];
      for (int j = 0; j < l; ++j) sum[Index(j)] += to_l * from_l[Index(j)];
    }
    std::copy_n(sum.begin(), i, row.begin());
  }
  for (int j = 1; j <= states_; ++j) {
    const double leave = leave_[Index(j)];
    if (leave > -0.5) {
      SetStay(j, leave * (2.0 + leave));
    } else {  // here the probability of staying is the small number, and is squared itself
      stay_[Index(j)] *= stay_[Index(j)];
      leave_[Index(j)] = stay_[Index(j)] - 1.0;
    }
  }
}

}  // namespace exactbloom::analysis
