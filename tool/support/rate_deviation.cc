#include "rate_deviation.h"

#include <algorithm>
#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/theory/occupancy.h"

namespace exactbloom::support {
namespace {

// Standard deviation of the number of one-bits over its mean.
double RelativeFillDeviation(FilterKind kind, std::uint64_t bits, int probes, std::uint64_t keys) {
  const auto ones = Occupancy::OfFilter(kind, bits, keys, probes);
  return ones ? std::sqrt(ones->Variance()) / ones->Mean() : 0.0;
}

// Weighted moments of a line's rate q and its number of keys J.
struct LineMoments {
  double weight = 0.0;
  double q = 0.0;
  double q_squared = 0.0;
  double q_times_j = 0.0;
  double j = 0.0;
  double j_squared = 0.0;

  void Add(double w, double keys, double rate, double variance) {
    weight += w;
    q += w * rate;
    q_squared += w * (rate * rate + variance);
    q_times_j += w * rate * keys;
    j += w * keys;
    j_squared += w * keys * keys;
  }

  double RelativeDeviation() const {
    const double mean = q / weight;
    const double mean_j = j / weight;
    const double variance_j = j_squared / weight - mean_j * mean_j;
    const double covariance = q_times_j / weight - mean * mean_j;
    const double linear = variance_j > 0.0 ? covariance * covariance / variance_j : 0.0;
    const double variance = q_squared / weight - mean * mean - linear;
    return std::sqrt(std::max(0.0, variance)) / mean;
  }
};

// The relative deviation of the mean rate of `lines` lines, over which `keys` keys are spread.
double RelativeLineDeviation(FilterKind kind, double lines, double keys, int probes) {
  constexpr double kDeviations = 10.0;  // beyond these the weights are negligible
  const double mean = keys / lines;
  const double spread = kDeviations * std::sqrt(mean) + kDeviations;
  const auto first = static_cast<std::uint64_t>(std::max(1.0, std::floor(mean - spread)));
  const auto last = static_cast<std::uint64_t>(std::min(keys, mean + spread));
  LineMoments moments;
  for (std::uint64_t j = first; j <= last; ++j) {
    const auto count = static_cast<double>(j);
    const double weight = std::exp(count * std::log(mean) - mean - std::lgamma(count + 1.0));
    const double rate = FalsePositiveRate(kind, kLineBits, j, probes);
    const double deviation = rate * probes * RelativeFillDeviation(kind, kLineBits, probes, j);
    moments.Add(weight, count, rate, deviation * deviation);
  }
  return moments.weight > 0.0 ? moments.RelativeDeviation() / std::sqrt(lines) : 0.0;
}

}  // namespace

double RelativeRateDeviation(Layout layout, const FilterSize& size, std::uint64_t keys) {
  if (keys == 0) return 0.0;
  if (!layout.InLines()) {
    return size.probes * RelativeFillDeviation(layout.kind, size.bits, size.probes, keys);
  }
  const double lines = static_cast<double>(size.bits) / static_cast<double>(kLineBits);
  return RelativeLineDeviation(layout.kind, lines, static_cast<double>(keys), size.probes);
}

ExactRate ExactRates::Of(const FilterDescription& filter) {
  Known& rate = Find(filter);
  if (!rate.relative_deviation) {
    const FilterSize size{filter.bits, filter.probes, rate.mean};
    rate.relative_deviation = RelativeRateDeviation(filter.layout, size, filter.keys);
  }
  return {rate.mean, *rate.relative_deviation};
}

ExactRates::Known& ExactRates::Find(const FilterDescription& filter) {
  const auto [place, is_new] =
      known_.try_emplace({filter.layout, filter.bits, filter.keys, filter.probes});
  if (is_new) {
    place->second.mean = FalsePositiveRate(filter.layout, filter.bits, filter.keys, filter.probes);
  }
  return place->second;
}

double Dispersion(double rate, double deviation, std::uint64_t queries) {
  if (rate <= 0.0 || rate >= 1.0) return 1.0;
  const double of_filter = rate * deviation;
  return 1.0 + static_cast<double>(queries) * of_filter * of_filter / (rate * (1.0 - rate));
}

}  // namespace exactbloom::support
