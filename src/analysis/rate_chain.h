// The chain that computes exact false-positive rates without cancellation.
//
// Follow a set of queried bits while keys are added. The state is the number of them that are still
// zero; one key (or, for the standard kind, one ball) moves it from j to j - h with probability
// P(j, j-h), and state 0 means a false positive. The rate is an entry of P^n.
//
// Two things keep full precision for every n and m:
//   - The generator S = P - I is squared instead of P: one squaring is 2S + S^2. With m = 1e12 the
//     diagonal of P is 1 - 1e-12, whose rounding would swamp the answer after n = 1e12 keys.
//   - Entry (i, j) is stored multiplied by scale^(i-j), a factor that multiplication of matrices
//     preserves, with scale a power of two chosen so that the final rate is near one. Nothing that
//     matters underflows, however small the rate.
#pragma once

#include <array>
#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom::analysis {

class RateChain {
 public:
  // One step adds one classic key: `probes` distinct bits out of `bits`.
  // Requires 1 <= probes <= min(bits, kMaxProbes). `keys` is the number of steps that Run takes.
  static RateChain ForClassicKeys(std::uint64_t bits, std::uint64_t keys, int probes);

  // One step throws one ball into `bits` urns; the states are 0 .. probes.
  static RateChain ForBalls(std::uint64_t bits, std::uint64_t balls, int probes);

  // Takes all the steps. Afterwards Absorbed answers. To be called once.
  void Run();

  // The probability that a set of `start` queried bits is all ones, times Scale()^start.
  double Absorbed(int start) const { return absorbed_[static_cast<std::size_t>(start)]; }

  // log2 of the scale.
  int ScaleExponent() const { return scale_exponent_; }

 private:
  using Row = std::array<double, kMaxProbes + 1>;

  RateChain(std::uint64_t steps, int states, double expected_fill);

  void SetStay(int state, double leave);
  void Apply();
  void Square();

  std::uint64_t steps_;
  int states_;          // the largest state
  int scale_exponent_;  // scale = 2^scale_exponent_
  // Row j of the scaled generator, entries 0 .. j-1 of it; the diagonal is held apart.
  std::array<Row, kMaxProbes + 1> move_;
  Row stay_;   // P(j, j)
  Row leave_;  // P(j, j) - 1, exact to the last digits while it is small
  Row absorbed_;
};

}  // namespace exactbloom::analysis
