// Brute force in rational arithmetic: follows every possible content of a filter of few bits.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <vector>

namespace exactbloom::oracle {

// The distribution of the set of one-bits of a small filter, one probability per set.
class FilterContents {
 public:
  explicit FilterContents(int bits);

  // Adds a key that sets `size` distinct bits, every subset of that size equally likely.
  void AddCommittee(int size);

  // Sets `balls` independently drawn bits.
  void AddBalls(int balls);

  // Keeps only the bits that are one here and in an independent `other` filter.
  void IntersectWith(const FilterContents& other);

  // P(X = x) for x = 0 .. bits.
  std::vector<mpq_class> OnesDistribution() const;

  // The mean over all contents of the share of k-subsets that are all ones.
  mpq_class ClassicRate(int probes) const;

  // The mean over all contents of (X / m)^k.
  mpq_class StandardRate(int probes) const;

 private:
  int bits_;
  std::vector<mpq_class> probability_;  // indexed by the set, as a mask
};

}  // namespace exactbloom::oracle
