#include "run_division.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/layout.h"
#include "exactbloom/sizing.h"

namespace exactbloom::analysis {
namespace {

// So many that a rate does not depend on them.
constexpr std::uint64_t kKeysOfCurve = 1'000'000'000;

// Bits per key. Slopes between the points are interpolated, and beyond the usual numbers they need
// not be precise.
constexpr double kBloomStep = 0.5;
constexpr double kRibbonStep = 0.25;
constexpr double kUsual = 32.0;
constexpr double kRareStep = 4.0;

// The rate of one kind of filter by bits per key. The rate of a Bloom filter bends where the number
// of probes changes; the curve is the convex hull below it, since a division never stays in a bend.
class RateCurve {
 public:
  // `rate_of` returns the rate at a number of bits per key.
  template <typename Rate>
  RateCurve(double step, Rate rate_of) {
    std::vector<Point> hull = {{0.0, 1.0}};
    double bits_per_key = 0.0;
    while ((bits_per_key += bits_per_key < kUsual ? step : kRareStep) <= kMaxBitsPerKey) {
      const Point point = {bits_per_key, rate_of(bits_per_key)};
      // Those of Ribbon filters end at kMaxRibbonBitsPerKey.
      if (!(point.rate < hull.back().rate)) break;
      while (hull.size() >= 2 &&
             Slope(hull.back(), point) >= Slope(hull[hull.size() - 2], hull.back())) {
        hull.pop_back();
      }
      hull.push_back(point);
    }
    for (std::size_t i = 1; i < hull.size(); ++i) {
      bits_per_key_.push_back((hull[i - 1].bits_per_key + hull[i].bits_per_key) / 2.0);
      log_slopes_.push_back(std::log(Slope(hull[i - 1], hull[i])));
    }
    // To the end of the last segment the slope falls half as much as from the one before it.
    const std::size_t last = log_slopes_.size() - 1;
    bits_per_key_.push_back(hull.back().bits_per_key);
    log_slopes_.push_back(log_slopes_[last] - (log_slopes_[last - 1] - log_slopes_[last]) / 2.0);
  }

  // Returns the bits per key, 0 .. kMaxBitsPerKey, at which one more bit lowers the rate by
  // exp(`log_slope`). Zero: not even the first bit is worth it.
  double BitsAtSlope(double log_slope) const {
    const auto below = std::partition_point(log_slopes_.begin(), log_slopes_.end(),
                                            [&](double known) { return known > log_slope; });
    if (below == log_slopes_.begin()) return 0.0;
    if (below == log_slopes_.end()) return bits_per_key_.back();
    const auto right = static_cast<std::size_t>(below - log_slopes_.begin());
    const std::size_t left = right - 1;
    const double share = (log_slopes_[left] - log_slope) / (log_slopes_[left] - log_slopes_[right]);
    return bits_per_key_[left] + share * (bits_per_key_[right] - bits_per_key_[left]);
  }

 private:
  struct Point {
    double bits_per_key;
    double rate;
  };

  static double Slope(const Point& left, const Point& right) {
    return (left.rate - right.rate) / (right.bits_per_key - left.bits_per_key);
  }

  // In the middle of each segment of the hull.
  std::vector<double> bits_per_key_;
  std::vector<double> log_slopes_;  // falling
};

// At so many keys the exact rates are the asymptotic ones, but would take tens of milliseconds.
// Never destroyed: databases may be closed when the process ends.
const RateCurve& CurveOfBloom() {
  static const auto& curve = *new RateCurve(kBloomStep, [](double bits_per_key) {
    const auto bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(kKeysOfCurve));
    const int probes = OptimalProbes(BloomKind::kClassic, bits, kKeysOfCurve);
    return AsymptoticFalsePositiveRate(bits, kKeysOfCurve, probes);
  });
  return curve;
}

const RateCurve& CurveOfRibbon() {
  static const auto& curve = *new RateCurve(
      kRibbonStep, [](double bits_per_key) { return LargeRibbonRate(bits_per_key); });
  return curve;
}

}  // namespace

double LargeRibbonRate(double bits_per_key) {
  constexpr double kSlotsPerKey = 1.005;
  constexpr double kRecordBits = 0.055;  // per key, of the records of shards
  const double bits_of_slots = std::min(bits_per_key, kMaxRibbonBitsPerKey) - kRecordBits;
  const double columns = std::max(0.0, bits_of_slots) / kSlotsPerKey;
  const double whole = std::floor(columns);
  return std::exp2(-whole) * (1.0 - (columns - whole) / 2.0);
}

std::vector<double> DivideAmongRuns(const std::vector<EqualRuns>& runs, double total_bits) {
  std::vector<double> bits_per_key(runs.size(), 0.0);
  std::vector<double> log_keys;
  log_keys.reserve(runs.size());
  for (const EqualRuns& run : runs) log_keys.push_back(std::log(run.keys));
  // Divides at this price of a bit, and returns the bits taken.
  const auto divide = [&](double log_price) {
    double taken = 0.0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const EqualRuns& run = runs[i];
      const RateCurve& curve = run.ribbon ? CurveOfRibbon() : CurveOfBloom();
      bits_per_key[i] = std::min(kMaxBitsPerKey, curve.BitsAtSlope(log_price + log_keys[i]));
      taken += bits_per_key[i] * run.keys * run.count;
    }
    return taken;
  };
  constexpr int kHalvings = 28;
  double cheap = -150.0;
  double dear = 20.0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (cheap + dear) / 2.0;
    (divide(middle) > total_bits ? cheap : dear) = middle;
  }
  // Where a curve is straight, many bits have the same price: they are shared out in part.
  const double most = divide(cheap);
  const std::vector<double> most_bits_per_key = bits_per_key;
  const double least = divide(dear);
  const double share = most > total_bits ? (total_bits - least) / (most - least) : 1.0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    bits_per_key[i] += share * (most_bits_per_key[i] - bits_per_key[i]);
  }
  return bits_per_key;
}

}  // namespace exactbloom::analysis
