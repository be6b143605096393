#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "exactbloom/false_positive_rate.h"
#include "filter/block_format.h"
#include "filter/kernels/code_word.h"

namespace exactbloom {
namespace {

// The logarithms of V_1, the probability that a given bit stays zero, and of V_2 / V_1^2, by which
// two bits depend on each other.
struct ZeroLogarithms {
  double one = 0.0;
  double dependence = 0.0;
};

ZeroLogarithms LogarithmsOf(const Geometry& geometry) {
  const auto m = static_cast<double>(geometry.bits);
  const auto n = static_cast<double>(geometry.keys);
  const auto k = static_cast<double>(geometry.probes);
  if (geometry.layout.kind == FilterKind::kClassic) {
    return {n * std::log1p(-k / m), n * std::log1p(-k / ((m - 1) * (m - k)))};
  }
  if (geometry.layout.InLines()) {
    // A key touches a line with probability lines / L, and then a bit of it with one of k / lines
    // independent draws.
    const double lines = geometry.layout.Lines();
    const auto line_bits = static_cast<double>(kLineBits);
    const double touched = -std::expm1(k / lines * std::log1p(-1 / line_bits));
    return {n * std::log1p(-lines * line_bits / m * touched), 0.0};
  }
  return {n * k * std::log1p(-1 / m), n * k * std::log1p(-1 / ((m - 1) * (m - 1)))};
}

std::uint64_t CountOnes(const unsigned char* bytes, std::uint64_t bits) {
  std::uint64_t ones = 0;
  for (std::uint64_t p = 0; p < bits; ++p) ones += filter::TestBit(bytes, p) ? 1U : 0U;
  return ones;
}

// For each line, the probability that all draws within it hit.
std::vector<double> LineRates(const unsigned char* array, const FilterDescription& filter) {
  std::vector<double> rates(filter.bits / kLineBits);
  for (std::size_t line = 0; line < rates.size(); ++line) {
    const std::uint64_t ones = CountOnes(array + line * kLineBits / 8, kLineBits);
    rates[line] = FalsePositiveRateGivenFill(filter.layout.kind, kLineBits, ones,
                                             filter.layout.ProbesPerLine(filter.probes));
  }
  return rates;
}

// The mean over the first lines, with the mean over the second lines of the same page.
double PairRate(const std::vector<double>& rates) {
  const std::size_t pages = std::max<std::size_t>(1, rates.size() / kPageLines);
  double sum = 0.0;
  for (std::size_t page = 0; page < pages; ++page) {
    const auto begin = rates.begin() + static_cast<std::ptrdiff_t>(page * kPageLines);
    const auto end = page + 1 == pages ? rates.end() : begin + kPageLines;
    const double page_sum = std::accumulate(begin, end, 0.0);
    for (auto rate = begin; rate != end; ++rate) {
      sum += *rate * (page_sum - *rate) / static_cast<double>(end - begin - 1);
    }
  }
  return sum / static_cast<double>(rates.size());
}

}  // namespace

Moments OnesMoments(const Geometry& geometry) {
  const auto m = static_cast<double>(geometry.bits);
  const ZeroLogarithms logarithms = LogarithmsOf(geometry);
  const double zero = std::exp(logarithms.one);
  const double one = -std::expm1(logarithms.one);
  return {m * one, m * zero * one + m * (m - 1) * zero * zero * std::expm1(logarithms.dependence)};
}

double RateVariance(const Geometry& geometry) {
  const auto m = static_cast<double>(geometry.bits);
  const Moments ones = OnesMoments(geometry);
  double rate = 1.0;
  double logarithmic_slope = 0.0;
  for (int i = 0; i < geometry.probes; ++i) {
    const double taken = geometry.layout.kind == FilterKind::kClassic ? i : 0;
    rate *= (ones.mean - taken) / (m - taken);
    logarithmic_slope += 1 / (ones.mean - taken);
  }
  const double slope = rate * logarithmic_slope;
  return slope * slope * ones.variance;
}

double RateGivenArray(std::string_view block) {
  const filter::DecodedBlock decoded = filter::DecodeBlock(block);
  const FilterDescription& filter = decoded.description;
  if (!filter.layout.InLines()) {
    return FalsePositiveRateGivenFill(filter.layout.kind, filter.bits,
                                      CountOnes(decoded.array, filter.bits), filter.probes);
  }
  const std::vector<double> rates = LineRates(decoded.array, filter);
  if (filter.layout.placement == BitPlacement::kTwoLines) return PairRate(rates);
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
