#include "rate_deviation.h"

#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/theory/occupancy.h"

namespace exactbloom::support {

double RelativeRateDeviation(BloomKind kind, const FilterSize& size, std::uint64_t keys) {
  if (keys == 0) return 0.0;
  const auto ones = MomentsOfOnes(kind, size.bits, keys, size.probes);
  return ones ? size.probes * std::sqrt(ones->variance) / ones->mean : 0.0;
}

ExactRate ExactRates::Of(const FilterDescription& filter) {
  const BloomKind kind = ToBloomKind(filter.kind);
  const auto [place, is_new] = known_.try_emplace({kind, filter.bits, filter.keys, filter.probes});
  if (is_new) {
    const FilterSize size{filter.bits, filter.probes,
                          FalsePositiveRate(kind, filter.bits, filter.keys, filter.probes)};
    place->second = {size.false_positive_rate, RelativeRateDeviation(kind, size, filter.keys)};
  }
  return place->second;
}

double Dispersion(double rate, double deviation, std::uint64_t queries) {
  if (rate <= 0.0 || rate >= 1.0) return 1.0;
  const double of_filter = rate * deviation;
  return 1.0 + static_cast<double>(queries) * of_filter * of_filter / (rate * (1.0 - rate));
}

}  // namespace exactbloom::support
