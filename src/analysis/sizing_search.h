// The searches behind sizing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "exactbloom/layout.h"
#include "scaled_rate.h"

namespace exactbloom::analysis {

// Returns the best k up to `most_probes`, the smallest one of a tie, mostly by the bounds of
// Corollary 23 alone. Requires IsGeometry of one probe, at least one key, and 1 ..
// kMaxAnalysisProbes.
int BestProbes(BloomKind kind, std::uint64_t bits, std::uint64_t keys,
               int most_probes = kMaxProbes);

inline constexpr std::uint64_t kMaxSizedCount = 1'000'000'000'000;

inline bool IsTarget(double target) { return target > 0.0 && target < 1.0; }

// Finds the least x in (low, high] for which holds(x) is true, given that it is false at low, true
// at high and monotone. The guess is tried first, then its surroundings at growing distances: a
// good guess makes the search take a handful of steps. `low` itself is never tried.
template <typename Predicate>
std::uint64_t LeastHolding(std::uint64_t low, std::uint64_t high, std::uint64_t guess,
                           Predicate holds) {
  std::uint64_t distance = 1;
  std::uint64_t x = std::clamp(guess, low + 1, high);
  bool bracketed_below = false;
  bool bracketed_above = false;
  while (high - low > 1) {
    if (holds(x)) {
      high = x;
      bracketed_above = true;
    } else {
      low = x;
      bracketed_below = true;
    }
    if (bracketed_below && bracketed_above) {
      x = low + (high - low) / 2;
    } else {
      x = bracketed_above ? high - std::min(distance, high - low - 1)
                          : low + std::min(distance, high - low - 1);
      distance *= 4;
    }
    x = std::clamp(x, low + 1, std::max(low + 1, high - 1));
  }
  return high;
}

// The least x of 1 .. most for which holds(x) is true, given that it is monotone; nothing if there
// is none. The guess is near: the bracket grows from a little above it.
template <typename Predicate>
std::optional<std::uint64_t> LeastUpTo(std::uint64_t most, std::uint64_t guess, Predicate holds) {
  std::uint64_t low = 0;
  std::uint64_t high = std::min(guess + guess / 64 + 8, most);
  while (!holds(high)) {
    if (high == most) return std::nullopt;
    low = high;
    high = std::min(high * 2, most);
  }
  return LeastHolding(low, high, guess, holds);
}

}  // namespace exactbloom::analysis
