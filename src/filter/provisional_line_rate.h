// Stands in for the analysis' rates of the cache-line layouts until they are there. The loads of
// two lines are taken for independent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"

namespace exactbloom::filter {

inline double ProvisionalFalsePositiveRate(Layout layout, std::uint64_t bits, std::uint64_t keys,
                                           int probes) {
  if (layout.lines == 0) return FalsePositiveRate(layout.kind, bits, keys, probes);
  const auto n = static_cast<double>(keys);
  const double share = layout.lines * static_cast<double>(kLineBits) / static_cast<double>(bits);
  if (share >= 1) {
    return std::pow(FalsePositiveRate(layout.kind, kLineBits, keys, probes / layout.lines),
                    layout.lines);
  }
  const double mean = n * share;
  const double spread = 10 * std::sqrt(mean) + 10;
  double rate = 0.0;
  for (double j = std::max(0.0, std::floor(mean - spread)); j <= std::min(n, mean + spread); ++j) {
    const double log_chance = std::lgamma(n + 1) - std::lgamma(j + 1) - std::lgamma(n - j + 1) +
                              j * std::log(share) + (n - j) * std::log1p(-share);
    rate += std::exp(log_chance) * FalsePositiveRate(layout.kind, kLineBits,
                                                     static_cast<std::uint64_t>(j),
                                                     probes / layout.lines);
  }
  return std::pow(rate, layout.lines);
}

inline int ProvisionalOptimalProbes(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  if (layout.lines == 0) return OptimalProbes(layout.kind, bits, keys);
  int best = layout.lines;
  double best_rate = ProvisionalFalsePositiveRate(layout, bits, keys, best);
  for (int probes = 2 * layout.lines; probes <= kMaxProbes; probes += layout.lines) {
    const double rate = ProvisionalFalsePositiveRate(layout, bits, keys, probes);
    if (rate >= best_rate) break;
    best = probes;
    best_rate = rate;
  }
  return best;
}

}  // namespace exactbloom::filter
