// Powers of a lower triangular matrix with non-negative entries, to full precision.
//
// Sums and products of non-negative numbers lose no digits; subtractions do. The diagonal needs
// care: the rounding of entries like 1 - 1e-12 would dominate the result after 1e12 steps.
// Therefore the generator S = P - I is squared instead of P. One squaring is 2S + S^2. There 2 +
// S_ii + S_jj = P_ii + P_jj is again a sum of non-negative numbers.
#pragma once

#include <array>
#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom::analysis {

class PositiveChain {
 public:
  using Row = std::array<double, kMaxProbes + 1>;

  // The states are 0 .. last_state. State 0 is constant; the others start without moves. Requires
  // last_state <= kMaxProbes.
  explicit PositiveChain(int last_state);

  // P(from, to), for to < from.
  void SetMove(int from, int to, double value) { move_[At(from)][At(to)] = value; }

  // P(state, state) - 1, which is at most zero.
  void SetStay(int state, double leave);

  // values = P * values.
  void Apply(Row& values) const;

  // values = P^steps * values. Squares the matrix on the way, so it is to be called once.
  void Run(std::uint64_t steps, Row& values);

 private:
  static constexpr std::size_t At(int i) { return static_cast<std::size_t>(i); }
  void Square();

  int last_state_;
  std::array<Row, kMaxProbes + 1> move_;  // the part below the diagonal
  Row stay_;                              // P(j, j)
  Row leave_;                             // P(j, j) - 1, exact to the last digits while it is small
};

}  // namespace exactbloom::analysis
