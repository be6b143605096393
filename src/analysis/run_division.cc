#include "run_division.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"

namespace exactbloom::analysis {
namespace {

// So many that a rate does not depend on them.
constexpr std::uint64_t kKeysOfCurve = 1'000'000'000;

// Bits per key. Slopes between the points are interpolated, and beyond the usual numbers they need
// not be precise.
constexpr double kStep = 0.5;
constexpr double kUsual = 32.0;
constexpr double kRareStep = 4.0;

double NextBits(double bits_per_key) {
  return bits_per_key + (bits_per_key < kUsual ? kStep : kRareStep);
}

std::uint64_t WholeBits(double bits_per_key, std::uint64_t granularity) {
  const auto bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(kKeysOfCurve));
  return bits / granularity * granularity;
}

}  // namespace

const RateCurve& RateCurve::OfBloom(Layout layout) {
  // Never destroyed: databases may be closed when the process ends.
  static auto& mutex = *new std::mutex;
  static auto& curves = *new std::map<std::pair<FilterKind, int>, const RateCurve>;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::pair<FilterKind, int> key(layout.kind, layout.Lines());
  const auto known = curves.find(key);
  return known != curves.end() ? known->second
                               : curves.emplace(key, ComputeBloom(layout)).first->second;
}

const RateCurve& RateCurve::OfRibbon() {
  static const auto& curve = *new RateCurve(ComputeRibbon());
  return curve;
}

RateCurve RateCurve::ComputeBloom(Layout layout) {
  std::vector<Point> points = {{0.0, 1.0}};
  double bits_per_key = 0.0;
  while ((bits_per_key = NextBits(bits_per_key)) <= kMaxBitsPerKey) {
    const std::uint64_t bits = WholeBits(bits_per_key, layout.Granularity());
    const int probes = OptimalProbes(layout, bits, kKeysOfCurve);
    points.push_back({bits_per_key, FalsePositiveRate(layout, bits, kKeysOfCurve, probes)});
  }
  return RateCurve(points);
}

RateCurve RateCurve::ComputeRibbon() {
  std::vector<Point> points = {{0.0, 1.0}};
  constexpr int kStepsPerBit = 4;
  for (int step = kStepsPerBit; step <= kStepsPerBit * static_cast<int>(kMaxBitsPerKey); ++step) {
    const double bits_per_key = static_cast<double>(step) / kStepsPerBit;
    const std::uint64_t bits = WholeBits(bits_per_key, kRibbonBlockSlots);
    points.push_back({bits_per_key, RibbonFalsePositiveRate(kKeysOfCurve, bits)});
  }
  return RateCurve(points);
}

RateCurve::RateCurve(const std::vector<Point>& points) {
  const auto slope = [](const Point& left, const Point& right) {
    return (left.rate - right.rate) / (right.bits_per_key - left.bits_per_key);
  };
  std::vector<Point> hull;
  for (const Point& point : points) {
    // Rates end at a floor, for Ribbon at 2^-32.
    if (!hull.empty() && !(point.rate < hull.back().rate)) break;
    while (hull.size() >= 2 &&
           slope(hull.back(), point) >= slope(hull[hull.size() - 2], hull.back())) {
      hull.pop_back();
    }
    hull.push_back(point);
  }
  for (std::size_t i = 1; i < hull.size(); ++i) {
    bits_per_key_.push_back((hull[i - 1].bits_per_key + hull[i].bits_per_key) / 2.0);
    log_slopes_.push_back(std::log(slope(hull[i - 1], hull[i])));
  }
}

double RateCurve::BitsAtSlope(double log_slope) const {
  const auto below = std::partition_point(log_slopes_.begin(), log_slopes_.end(),
                                          [&](double known) { return known > log_slope; });
  if (below == log_slopes_.begin()) return 0.0;
  if (below == log_slopes_.end()) return bits_per_key_.back();
  const auto right = static_cast<std::size_t>(below - log_slopes_.begin());
  const std::size_t left = right - 1;
  const double share = (log_slopes_[left] - log_slope) / (log_slopes_[left] - log_slopes_[right]);
  return bits_per_key_[left] + share * (bits_per_key_[right] - bits_per_key_[left]);
}

std::vector<double> DivideAmongRuns(const std::vector<EqualRuns>& runs, double total_bits) {
  std::vector<double> bits_per_key(runs.size(), 0.0);
  std::vector<double> log_keys;
  log_keys.reserve(runs.size());
  for (const EqualRuns& run : runs) log_keys.push_back(std::log(run.keys * run.overhead));
  // Divides at this price of a bit, and returns the bits taken.
  const auto divide = [&](double log_price) {
    double taken = 0.0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      bits_per_key[i] = std::min(
          kMaxBitsPerKey, runs[i].overhead * runs[i].curve->BitsAtSlope(log_price + log_keys[i]));
      taken += bits_per_key[i] * runs[i].keys * runs[i].count;
    }
    return taken;
  };
  constexpr int kHalvings = 50;
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

double RibbonOverheadOfCurve(double keys) {
  static const double of_curve = RibbonOverhead(kKeysOfCurve);
  return RibbonOverhead(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(keys))) / of_curve;
}

}  // namespace exactbloom::analysis
