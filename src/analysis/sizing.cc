#include "exactbloom/sizing.h"

#include <algorithm>
#include <cmath>

#include "false_positive_rate.h"

namespace exactbloom {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr std::uint64_t kMaxSizedCount = 1'000'000'000'000;

// The rate as a function of k falls to its minimum and rises again. Whether it always does is a
// conjecture, so the search goes on this far past a minimum before it believes in it.
constexpr int kStepsPastMinimum = 2;

bool IsTarget(double target) { return target > 0.0 && target < 1.0; }

struct Choice {
  int probes = 1;
  double log2_rate = 0.0;
};

class ProbeSearch {
 public:
  ProbeSearch(FilterKind kind, std::uint64_t bits, std::uint64_t keys)
      : kind_(kind), bits_(bits), keys_(keys) {
    const auto most = static_cast<std::uint64_t>(kMaxProbes);
    limit_ = kind == FilterKind::kClassic ? static_cast<int>(std::min(bits, most)) : kMaxProbes;
  }

  Choice Best() {
    const double usual = kLn2 * static_cast<double>(bits_) / static_cast<double>(keys_);
    const int start = static_cast<int>(std::clamp(usual, 1.0, static_cast<double>(limit_)));
    best_ = {start, Log2Rate(start)};
    Walk(start, -1);
    Walk(start, +1);
    return best_;
  }

 private:
  double Log2Rate(int probes) const {
    return analysis::ScaledFalsePositiveRate(kind_, bits_, keys_, probes).Log2();
  }

  void Walk(int from, int step) {
    int past = 0;
    for (int k = from + step; k >= 1 && k <= limit_ && past < kStepsPastMinimum; k += step) {
      const double rate = Log2Rate(k);
      const bool better = rate < best_.log2_rate || (rate == best_.log2_rate && k < best_.probes);
      if (better) best_ = {k, rate};
      past = better ? 0 : past + 1;
    }
  }

  FilterKind kind_;
  std::uint64_t bits_;
  std::uint64_t keys_;
  int limit_;
  Choice best_;
};

Choice BestChoice(FilterKind kind, std::uint64_t bits, std::uint64_t keys) {
  return ProbeSearch(kind, bits, keys).Best();
}

// Finds the least x in (low, high] for which holds(x) is true, given that it is false at low, true
// at high and monotone. The guess is tried first, then its surroundings at growing distances: a
// good guess makes the search take a handful of steps.
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

}  // namespace

int OptimalProbes(FilterKind kind, std::uint64_t bits, std::uint64_t keys) {
  if (bits < 1 || bits > analysis::kMaxCount) return 0;
  if (keys < 1 || keys > analysis::kMaxCount) return 1;
  return BestChoice(kind, bits, keys).probes;
}

std::optional<FilterSize> SmallestFilter(FilterKind kind, std::uint64_t keys, double target) {
  if (keys < 1 || keys > kMaxSizedCount || !IsTarget(target)) return std::nullopt;
  const double log2_target = std::log2(target);
  const auto reaches = [&](std::uint64_t bits) {
    return BestChoice(kind, bits, keys).log2_rate <= log2_target;
  };
  // A filter of one bit has rate 1. Upwards, the usual formula is the guess, and the bracket grows
  // from it until it holds.
  const double usual = -log2_target / kLn2 * static_cast<double>(keys);
  const auto guess =
      static_cast<std::uint64_t>(std::min(usual, static_cast<double>(analysis::kMaxCount)));
  std::uint64_t low = 1;
  std::uint64_t high = std::max<std::uint64_t>(guess + guess / 64 + 8, 2);
  while (high <= analysis::kMaxCount && !reaches(high)) {
    low = high;
    high *= 2;
  }
  if (high > analysis::kMaxCount) return std::nullopt;
  const std::uint64_t bits = LeastHolding(low, high, guess, reaches);
  const Choice choice = BestChoice(kind, bits, keys);
  return FilterSize{bits, choice.probes, std::exp2(choice.log2_rate)};
}

std::optional<std::uint64_t> MostKeys(FilterKind kind, std::uint64_t bits, double target) {
  if (bits < 1 || bits > kMaxSizedCount || !IsTarget(target)) return std::nullopt;
  const double log2_target = std::log2(target);
  const auto exceeds = [&](std::uint64_t keys) {
    return BestChoice(kind, bits, keys).log2_rate > log2_target;
  };
  const double usual = static_cast<double>(bits) * kLn2 / -log2_target;
  const auto guess =
      static_cast<std::uint64_t>(std::min(usual, static_cast<double>(analysis::kMaxCount)));
  std::uint64_t low = 0;
  std::uint64_t high = std::min(guess + guess / 64 + 8, analysis::kMaxCount);
  while (!exceeds(high)) {
    if (high == analysis::kMaxCount) return high;
    low = high;
    high = std::min(high * 2, analysis::kMaxCount);
  }
  return LeastHolding(low, high, guess, exceeds) - 1;
}

}  // namespace exactbloom
