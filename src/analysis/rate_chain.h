// The probability that given bits are all one, without cancellation.
//
// Follow a set of bits while committees (sets of distinct bits, every one of their size equally
// likely) are added. The state is the number of the followed bits that are still zero; a committee
// moves it from j to j - h with the hypergeometric probability P(j, j-h) = C(j,h) C(m-j,k-h) /
// C(m,k), and state 0 means that all are one. A key of a classic filter is a committee of k bits, a
// ball that a standard filter throws is a committee of one.
//
// Entry (i, j) of the matrix is stored multiplied by scale^(i-j), a factor that multiplication of
// matrices preserves, with scale a power of two chosen so that the results are near one. Nothing
// that matters underflows, however small the probability.
#pragma once

#include <cstdint>

#include "positive_chain.h"
#include "requirements.h"

namespace exactbloom::analysis {

class RateChain {
 public:
  // Follows up to `most_followed` bits, at most kMaxAnalysisProbes, out of `bits`. `expected_fill`,
  // the share of one-bits in the end, decides the scale: 1 for no scaling.
  RateChain(std::uint64_t bits, int most_followed, double expected_fill);

  void AddCommittees(std::uint64_t count, std::uint64_t size);

  // Takes all bits for ones, of which other chains keep some.
  void StartWithAllOnes();

  // Keeps of the ones so far those that are ones of `other`, too, which are independent of them;
  // the scale becomes the product of both.
  void IntersectWith(const RateChain& other);

  // The probability that `followed` bits are all one, times 2^(followed * ScaleExponent()).
  double AllOnes(int followed) const { return all_ones_[static_cast<std::size_t>(followed)]; }

  int ScaleExponent() const { return scale_exponent_; }

  // The same for `draws` independent draws of a bit each, which may coincide: d of them are
  // distinct with probability S(draws,d) m^(d) / m^draws.
  double AllDrawsOne(int draws) const;

 private:
  // The matrix of one committee.
  PositiveChain Committee(std::uint64_t size) const;

  std::uint64_t bits_;
  int states_;  // the largest state: at most the number of bits
  int scale_exponent_;
  PositiveChain::Row all_ones_;
};

}  // namespace exactbloom::analysis
