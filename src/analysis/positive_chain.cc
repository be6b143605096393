#include "positive_chain.h"

#include <algorithm>

namespace exactbloom::analysis {

PositiveChain::PositiveChain(int last_state)
    : last_state_(last_state),
      moves_(FirstMove(last_state + 1)),
      stay_(RowOf(last_state)),
      leave_(RowOf(last_state)) {
  for (int j = 0; j <= last_state_; ++j) SetStay(j, 0.0);
}

void PositiveChain::SetStay(int state, double leave, double stay) {
  leave_[At(state)] = leave;
  stay_[At(state)] = stay;
}

// Downwards, because row i reads the old entries below it.
void PositiveChain::Apply(Row& values) const {
  for (int i = last_state_; i >= 1; --i) {
    const double* const moves = MovesFrom(i);
    double sum = stay_[At(i)] * values[At(i)];
    for (int j = 0; j < i; ++j) sum += moves[At(j)] * values[At(j)];
    values[At(i)] = sum;
  }
}

void PositiveChain::Run(std::uint64_t steps, Row& values) {
  for (; steps > 0; steps >>= 1) {
    if ((steps & 1) != 0) Apply(values);
    if (steps > 1) Square();
  }
}

void PositiveChain::Square() {
  Row row = RowOf(last_state_);
  double* const sum = row.data();
  for (int i = last_state_; i >= 1; --i) {
    double* const moves = MovesFrom(i);
    for (int j = 0; j < i; ++j) sum[At(j)] = (stay_[At(i)] + stay_[At(j)]) * moves[At(j)];
    for (int l = 1; l < i; ++l) {
      const double to_l = moves[At(l)];
      const double* const from_l = MovesFrom(l);
      for (int j = 0; j < l; ++j) sum[At(j)] += to_l * from_l[At(j)];
    }
    std::copy_n(sum, i, moves);
  }
  for (int j = 1; j <= last_state_; ++j) {
    const double leave = leave_[At(j)];
    if (leave > -0.5) {
      SetStay(j, leave * (2.0 + leave));
    } else {  // here the probability of staying is the small number, and is squared itself
      stay_[At(j)] *= stay_[At(j)];
      leave_[At(j)] = stay_[At(j)] - 1.0;
    }
  }
}

}  // namespace exactbloom::analysis
