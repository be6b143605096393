// The search for the best number of probes.
#include <algorithm>

#include "exactbloom/rate_bounds.h"
#include "scaled_rate.h"
#include "sizing_search.h"

namespace exactbloom::analysis {
namespace {

// The rate as a function of k falls to its minimum and rises again. That it always does is a
// conjecture, so the search continues this many steps past a minimum.
constexpr int kStepsPastMinimum = 2;

// Bounds below this may have lost digits to underflow; a comparison needs this much distance to
// exceed their rounding errors.
constexpr double kLeastBound = 1e-280;
constexpr double kRounding = 1e-11;

// Logarithms of rates that are no further apart are a tie: rounding errors decide no more.
constexpr double kTie = 2e-12;

int UsualProbes(std::uint64_t bits, std::uint64_t keys, int limit) {
  const double usual = kLn2 * static_cast<double>(bits) / static_cast<double>(keys);
  return static_cast<int>(std::clamp<double>(usual, 1.0, limit));
}

class ProbeSearch {
 public:
  ProbeSearch(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int limit)
      : kind_(kind), bits_(bits), keys_(keys), limit_(limit) {}

  int Best() {
    const int start = UsualProbes(bits_, keys_, limit_);
    best_ = start;
    best_log2_rate_ = Log2Rate(start);
    Walk(start, -1);
    Walk(start, +1);
    return best_;
  }

 private:
  double Log2Rate(int probes) const {
    return ScaledFalsePositiveRate(kind_, bits_, keys_, probes).Log2();
  }

  void Walk(int from, int step) {
    int past = 0;
    for (int k = from + step; k >= 1 && k <= limit_ && past < kStepsPastMinimum; k += step) {
      const double rate = Log2Rate(k);
      const bool better = rate < best_log2_rate_ + (k < best_ ? kTie : -kTie);
      if (better) {
        best_ = k;
        best_log2_rate_ = rate;
      }
      past = better ? 0 : past + 1;
    }
  }

  BloomKind kind_;
  std::uint64_t bits_;
  std::uint64_t keys_;
  int limit_;
  int best_ = 1;
  double best_log2_rate_ = 0.0;
};

// Returns k* if the bounds of Corollary 23 prove that it is the usual k or the next one, and 0
// otherwise. Mostly they also tell which of the two; if not, the exact rates do. A k is out where
// another one's upper bound lies below its lower bound. The standard kind's lower bound falls and
// then rises as a function of k, so that with both neighbours of the two all others are out as
// well.
int ProbesByBounds(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int limit) {
  const int k = UsualProbes(bits, keys, limit);
  const auto bounds_of = [&](int probes) {
    return *FalsePositiveRateBounds(kind, bits, keys, probes);
  };
  if (k == limit) {
    const double high = bounds_of(k).high * (1.0 + kRounding);
    return k > 1 && high >= kLeastBound && high < bounds_of(k - 1).low ? k : 0;
  }
  const Interval first = bounds_of(k);
  const Interval second = bounds_of(k + 1);
  const double best = std::min(first.high, second.high) * (1.0 + kRounding);
  if (best < kLeastBound) return 0;
  if (k > 1 && best >= bounds_of(k - 1).low) return 0;
  if (k + 2 <= limit && best >= bounds_of(k + 2).low) return 0;
  if (best < second.low) return k;
  if (best < first.low) return k + 1;
  const double rate = ScaledFalsePositiveRate(kind, bits, keys, k).Log2();
  return ScaledFalsePositiveRate(kind, bits, keys, k + 1).Log2() < rate - kTie ? k + 1 : k;
}

}  // namespace

int BestProbes(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int most_probes) {
  const int limit = MostProbes(kind, bits, most_probes);
  const int proved = ProbesByBounds(kind, bits, keys, limit);
  return proved > 0 ? proved : ProbeSearch(kind, bits, keys, limit).Best();
}

}  // namespace exactbloom::analysis
