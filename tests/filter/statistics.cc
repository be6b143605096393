#include "statistics.h"

#include <gtest/gtest.h>

#include <bitset>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "exactbloom/false_positive_rate.h"
#include "src/filter/block_format.h"
#include "tool/support/rate_deviation.h"

namespace exactbloom {
namespace {

std::uint64_t CountOnes(const unsigned char* bytes, std::uint64_t bits) {
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < bits / 8; ++i) ones += std::bitset<8>(bytes[i]).count();
  return ones;
}

// For each line, the probability that all draws within it hit.
std::vector<double> LineRates(const unsigned char* array, const FilterDescription& filter) {
  std::vector<double> rates(filter.bits / kLineBits);
  for (std::size_t line = 0; line < rates.size(); ++line) {
    const std::uint64_t ones = CountOnes(array + line * kLineBits / 8, kLineBits);
    rates[line] = FalsePositiveRateGivenFill(filter.layout.kind, kLineBits, ones, filter.probes);
  }
  return rates;
}

}  // namespace

void ExpectExactRate(std::uint64_t false_positives, std::uint64_t asked, Layout layout,
                     const FilterSize& size, std::uint64_t keys) {
  const double rate = size.false_positive_rate;
  const double dispersion =
      support::Dispersion(rate, support::RelativeRateDeviation(layout, size, keys), asked);
  const Interval interval = WilsonInterval(false_positives, asked, kZ999, dispersion);
  EXPECT_TRUE(interval.Contains(rate))
      << rate << " outside " << interval.low << " .. " << interval.high;
}

double RateGivenArray(std::string_view block) {
  const filter::DecodedBlock decoded = filter::DecodeBlock(block);
  const FilterDescription& filter = decoded.description;
  if (!filter.layout.InLines()) {
    return FalsePositiveRateGivenFill(filter.layout.kind, filter.bits,
                                      CountOnes(decoded.array, filter.bits), filter.probes);
  }
  const std::vector<double> rates = LineRates(decoded.array, filter);
  return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

Interval ChiSquareInterval(double degrees_of_freedom, double z) {
  const double spread = 2 / (9 * degrees_of_freedom);
  const auto quantile = [&](double normal) {
    return degrees_of_freedom * std::pow(1 - spread + normal * std::sqrt(spread), 3);
  };
  return {quantile(-z), quantile(z)};
}

double ChiSquareOfUniform(const std::vector<std::uint64_t>& counts) {
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  const double expected = total / static_cast<double>(counts.size());
  return std::accumulate(counts.begin(), counts.end(), 0.0, [&](double sum, std::uint64_t count) {
    const double difference = static_cast<double>(count) - expected;
    return sum + difference * difference / expected;
  });
}

}  // namespace exactbloom
