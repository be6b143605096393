// Powers of a lower triangular matrix with non-negative entries, to full precision.
//
// Sums and products of non-negative numbers lose no digits; subtractions do. The diagonal needs
// care: the rounding of entries like 1 - 1e-12 would dominate the result after 1e12 steps.
// Therefore the generator S = P - I is squared instead of P. One squaring is 2S + S^2. There 2 +
// S_ii + S_jj = P_ii + P_jj is again a sum of non-negative numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "exactbloom/layout.h"

namespace exactbloom::analysis {

// Numbers that are kept in place if they are at most kInPlace, and else on the heap.
template <std::size_t kInPlace>
class Numbers {
 public:
  // All zero.
  explicit Numbers(std::size_t size) {
    if (size > kInPlace) {
      heap_ = std::make_unique<double[]>(size);
    } else {
      std::fill_n(in_place_.begin(), size, 0.0);
    }
  }

  double* data() { return heap_ != nullptr ? heap_.get() : in_place_.data(); }
  const double* data() const { return heap_ != nullptr ? heap_.get() : in_place_.data(); }
  double& operator[](std::size_t i) { return data()[i]; }
  double operator[](std::size_t i) const { return data()[i]; }

 private:
  std::array<double, kInPlace> in_place_;
  std::unique_ptr<double[]> heap_;
};

class PositiveChain {
 public:
  // A number for each state. Up to kMaxProbes states besides 0 nothing is allocated.
  using Row = Numbers<kMaxProbes + 1>;
  static Row RowOf(int last_state) { return Row(At(last_state + 1)); }

  // The states are 0 .. last_state. State 0 is constant; the others start without moves.
  explicit PositiveChain(int last_state);

  // P(from, to), for to < from.
  void SetMove(int from, int to, double value) { MovesFrom(from)[At(to)] = value; }

  // P(state, state) - 1, which is at most zero, and where it is near -1 P(state, state), whose
  // digits the difference has not.
  void SetStay(int state, double leave) { SetStay(state, leave, 1.0 + leave); }
  void SetStay(int state, double leave, double stay);

  // values = P * values.
  void Apply(Row& values) const;

  // values = P^steps * values. Squares the matrix on the way, so it is to be called once.
  void Run(std::uint64_t steps, Row& values);

 private:
  static constexpr std::size_t At(int i) { return static_cast<std::size_t>(i); }
  double* MovesFrom(int i) { return moves_.data() + FirstMove(i); }
  const double* MovesFrom(int i) const { return moves_.data() + FirstMove(i); }
  // Rows of 0, 1, 2, ... moves follow each other.
  static constexpr std::size_t FirstMove(int i) { return At(i) * At(i - 1) / 2; }
  void Square();

  int last_state_;
  Numbers<(kMaxProbes + 1) * kMaxProbes / 2> moves_;  // the part below the diagonal
  Row stay_;                                          // P(j, j)
  Row leave_;  // P(j, j) - 1, exact to the last digits while it is small
};

}  // namespace exactbloom::analysis
