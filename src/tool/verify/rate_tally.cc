#include "rate_tally.h"

#include <algorithm>
#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "support/rate_deviation.h"

namespace exactbloom::tool {

const FilterRate& ExactRates::Of(const FilterDescription& filter) {
  const Layout layout = filter.layout;
  const auto [place, is_new] =
      rates_.try_emplace({layout, filter.bits, filter.keys, filter.probes});
  if (is_new) {
    const FilterSize size{filter.bits, filter.probes};
    place->second.mean = FalsePositiveRate(layout, filter.bits, filter.keys, filter.probes);
    place->second.relative_deviation = support::RelativeRateDeviation(layout, size, filter.keys);
  }
  return place->second;
}

RateTally RateTally::OfExact(std::uint64_t asked, std::uint64_t positives, const FilterRate& rate) {
  const auto trials = static_cast<double>(asked);
  RateTally tally;
  tally.asked = asked;
  tally.positives = positives;
  tally.expected = trials * rate.mean;
  const double of_fill = tally.expected * rate.relative_deviation;
  tally.variance = tally.expected * (1.0 - rate.mean) + of_fill * of_fill;
  return tally;
}

RateTally RateTally::OfApproximate(std::uint64_t asked, std::uint64_t positives, double rate) {
  RateTally tally;
  tally.asked = asked;
  tally.positives = positives;
  tally.expected = static_cast<double>(asked) * rate;
  tally.exact = asked == 0;
  return tally;
}

void RateTally::Add(const RateTally& other) {
  asked += other.asked;
  positives += other.positives;
  expected += other.expected;
  exact = exact && other.exact;
  variance += other.variance;
}

std::optional<Interval> RateTally::MeasuredInterval() const {
  if (!exact || asked == 0) return std::nullopt;
  const double rate = expected / static_cast<double>(asked);
  const double binomial = expected * (1.0 - rate);
  const double dispersion = binomial > 0.0 ? std::max(1.0, variance / binomial) : 1.0;
  return WilsonInterval(positives, asked, kZ999, dispersion);
}

std::optional<bool> RateTally::WithinInterval() const {
  const std::optional<Interval> interval = MeasuredInterval();
  if (!interval) return std::nullopt;
  return interval->Contains(expected / static_cast<double>(asked));
}

}  // namespace exactbloom::tool
