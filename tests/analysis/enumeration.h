// Brute force in rational arithmetic: follows every possible content of a filter of few bits.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace exactbloom::oracle {

inline std::vector<std::uint32_t> SubsetsOfSize(int bits, int size) {
  std::vector<std::uint32_t> subsets;
  for (std::uint32_t set = 0; set < (1U << bits); ++set) {
    if (__builtin_popcount(set) == size) subsets.push_back(set);
  }
  return subsets;
}

inline mpq_class Ratio(std::size_t a, std::size_t b) { return mpq_class(a) / mpq_class(b); }

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
    const mpq_class each = Ratio(1, committees.size());
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

  // The mean over all contents of the share of k-subsets that are all ones.
  mpq_class ClassicRate(int probes) const {
    const std::vector<std::uint32_t> queries = SubsetsOfSize(bits_, probes);
    mpq_class rate = 0;
    for (std::size_t set = 0; set < probability_.size(); ++set) {
      std::size_t hits = 0;
      for (const std::uint32_t query : queries) hits += (query & ~set) == 0 ? 1 : 0;
      rate += probability_[set] * Ratio(hits, queries.size());
    }
    return rate;
  }

  // The mean over all contents of (X / m)^k.
  mpq_class StandardRate(int probes) const {
    const std::vector<mpq_class> ones = OnesDistribution();
    mpq_class rate = 0;
    for (std::size_t x = 0; x < ones.size(); ++x) {
      mpq_class hit = ones[x];
      for (int i = 0; i < probes; ++i) {
        hit *= Ratio(x, static_cast<std::size_t>(bits_));
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
