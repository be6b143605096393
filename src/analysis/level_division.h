// A division of bits among sorted runs, improved step by step.
#pragma once

#include <cstdint>
#include <vector>

#include "exactbloom/levels.h"

namespace exactbloom::analysis {

// The continuous rule: rate_i proportional to n_i, that is b_i = b - log2(n_i) / ln 2 bits per key,
// over the runs for which it is positive.
std::vector<double> ProportionalBitsPerKey(const std::vector<double>& keys, double total_bits);

// Starts from that rule. Parameters as those of PlanLevels, which must outlive the division.
class Division {
 public:
  Division(Layout layout, const std::vector<std::uint64_t>& keys, std::uint64_t total_bits,
           BottommostFilter bottommost);

  // Moves ever smaller amounts between any two runs, down to `least_bits`, for as long as that
  // helps.
  void Improve(std::uint64_t least_bits = 1);

  LevelPlan Plan() const;

 private:
  bool IsRibbon(std::size_t run) const { return ribbon_ && run + 1 == keys_.size(); }
  double Rate(std::size_t run, std::uint64_t units) const;
  bool ImproveBy(std::uint64_t amount);

  Layout layout_;
  std::uint64_t unit_;
  const std::vector<std::uint64_t>& keys_;
  bool ribbon_;  // the last run
  std::vector<std::uint64_t> units_;
  std::vector<double> rates_;
};

}  // namespace exactbloom::analysis
