// Brute force in rational arithmetic: follows every possible content of a filter of few bits.
#pragma once

#include <gmpxx.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::oracle {

inline std::vector<std::uint32_t> SubsetsOfSize(int bits, int size) {
  std::vector<std::uint32_t> subsets;
  for (std::uint32_t set = 0; set < (1U << bits); ++set) {
    if (__builtin_popcount(set) == size) subsets.push_back(set);
  }
  return subsets;
}

// The distribution of the set of one-bits of a small filter, one probability per set.
class FilterContents {
 public:
  explicit FilterContents(int bits)
      : bits_(bits), probability_(std::size_t{1} << bits, mpq_class(0)) {
    probability_[0] = 1;
  }

  // Adds a key that sets `size` distinct bits, every subset of that size equally likely.
  void AddCommittee(int size) {
    const std::vector<std::uint32_t> committees = SubsetsOfSize(bits_, size);
    const mpq_class each = mpq_class(1) / mpq_class(committees.size());
    std::vector<mpq_class> next(probability_.size(), mpq_class(0));
    for (std::size_t set = 0; set < probability_.size(); ++set) {
      if (probability_[set] == 0) continue;
      const mpq_class share = probability_[set] * each;
      for (const std::uint32_t committee : committees) next[set | committee] += share;
    }
    probability_ = std::move(next);
  }

  // Sets `balls` independently drawn bits.
  void AddBalls(int balls) {
    for (int ball = 0; ball < balls; ++ball) AddCommittee(1);
  }

  // Keeps only the bits that are one here and in an independent `other` filter.
  void IntersectWith(const FilterContents& other) {
    std::vector<mpq_class> next(probability_.size(), mpq_class(0));
    for (std::size_t a = 0; a < probability_.size(); ++a) {
      for (std::size_t b = 0; b < probability_.size(); ++b) {
        next[a & b] += probability_[a] * other.probability_[b];
      }
    }
    probability_ = std::move(next);
  }

  // P(X = x) for x = 0 .. bits.
  std::vector<mpq_class> OnesDistribution() const {
    std::vector<mpq_class> distribution(static_cast<std::size_t>(bits_) + 1, mpq_class(0));
    for (std::size_t set = 0; set < probability_.size(); ++set) {
      distribution[static_cast<std::size_t>(__builtin_popcountll(set))] += probability_[set];
    }
    return distribution;
  }

  // The mean over all contents of the share of queries, of distinct bits if classic, that hit ones
  // only.
  mpq_class Rate(BloomKind kind, int probes) const {
    const std::vector<mpq_class> ones = OnesDistribution();
    mpq_class rate = 0;
    for (int x = 0; x <= bits_; ++x) {
      mpq_class hit = ones[static_cast<std::size_t>(x)];
      for (int i = 0; i < probes; ++i) {
        const int drawn = kind == BloomKind::kClassic ? i : 0;
        hit *= mpq_class(std::max(0, x - drawn)) / mpq_class(bits_ - drawn);
      }
      rate += hit;
    }
    return rate;
  }

 private:
  int bits_;
  std::vector<mpq_class> probability_;  // indexed by the set, as a mask
};

}  // namespace exactbloom::oracle
