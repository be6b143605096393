// The monotone searches behind sizing. They ask for the best log2 rate through a parameter, so that
// a caller can use numbers of probes that it remembers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "exactbloom/layout.h"
#include "scaled_rate.h"

namespace exactbloom::analysis {

struct Choice {
  int probes = 1;
  double log2_rate = 0.0;
};

// Requires IsGeometry of the layout's smallest probes, and at least one key.
Choice BestChoice(Layout layout, std::uint64_t bits, std::uint64_t keys);

// The probes of the same choice, mostly by the bounds of Corollary 23 alone.
int BestProbes(Layout layout, std::uint64_t bits, std::uint64_t keys);

// Whether none of the next larger (step = 1) or smaller (step = -1) numbers of probes has a lower
// rate than `probes`: enough to prove k* where it cannot be smaller, or larger.
bool IsBestTowards(Layout layout, std::uint64_t bits, std::uint64_t keys, int probes, int step);

inline constexpr std::uint64_t kMaxSizedCount = 1'000'000'000'000;

// The usual formula, a limit for large filters.
inline double UsualBits(double keys, double target) { return -std::log2(target) / kLn2 * keys; }

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

// The fewest bits at which best_log2_rate(bits) is at most log2_target. `guess` is in bits.
template <typename BestLog2Rate>
std::optional<std::uint64_t> FewestBits(Layout layout, double log2_target, double guess,
                                        BestLog2Rate best_log2_rate) {
  const std::uint64_t unit = layout.Granularity();
  const std::uint64_t most = kMaxCount / unit;
  const double units = std::min(guess / static_cast<double>(unit), static_cast<double>(most));
  const auto reached = LeastUpTo(most, static_cast<std::uint64_t>(units), [&](std::uint64_t x) {
    return best_log2_rate(x * unit) <= log2_target;
  });
  return reached ? std::optional(*reached * unit) : std::nullopt;
}

}  // namespace exactbloom::analysis
