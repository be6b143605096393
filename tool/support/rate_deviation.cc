#include "rate_deviation.h"

#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/theory/occupancy.h"

namespace exactbloom::support {
double RelativeRateDeviation(FilterKind kind, const FilterSize& size, std::uint64_t keys) {
  if (keys == 0) return 0.0;
  const auto ones = MomentsOfOnes(kind, size.bits, keys, size.probes);
  return ones ? size.probes * std::sqrt(ones->variance) / ones->mean : 0.0;
}

ExactRate ExactRates::Of(const FilterDescription& filter) {
  Known& rate = Find(filter);
  if (!rate.relative_deviation) {
    const FilterSize size{filter.bits, filter.probes, rate.mean};
    rate.relative_deviation = RelativeRateDeviation(filter.kind, size, filter.keys);
  }
  return {rate.mean, *rate.relative_deviation};
}

ExactRates::Known& ExactRates::Find(const FilterDescription& filter) {
  const auto [place, is_new] =
      known_.try_emplace({filter.kind, filter.bits, filter.keys, filter.probes});
  if (is_new) {
    place->second.mean = FalsePositiveRate(filter.kind, filter.bits, filter.keys, filter.probes);
  }
  return place->second;
}

double Dispersion(double rate, double deviation, std::uint64_t queries) {
  if (rate <= 0.0 || rate >= 1.0) return 1.0;
  const double of_filter = rate * deviation;
  return 1.0 + static_cast<double>(queries) * of_filter * of_filter / (rate * (1.0 - rate));
}

}  // namespace exactbloom::support
