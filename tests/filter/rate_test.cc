// The statistical proof: filters let through exactly the share of absent keys that the exact rate
// says, at many geometries of both kinds.
//
// Each geometry is measured on many filters, each with its own salt, because the exact rate is an
// average over hash functions. Three things are compared:
//   rate             false positives against the exact rate, within a two-sided 99.9% interval that
//                    is widened by the variance of the fill
//   rate given fill  false positives against what the filters' actual fills predict: no average
//                    over hash functions is left, so the spread is purely binomial
//   fill             one-bits against their exact mean
//
// Over a grid of N geometries a correct filter would, with random seeds, break one of the N
// 99.9% intervals of the rate with probability 1 - 0.999^N, which is 27% for all grids of this file
// together. The seeds are fixed and were not chosen, so a failure is always a change of the code.
// The other two comparisons are made at Bonferroni's level, jointly wrong in 0.1% of all cases. A
// deviation too small for a single geometry shows in joint_rate_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/confidence_interval.h"
#include "exactbloom/theory/occupancy.h"
#include "sample_filters.h"
#include "statistics.h"
#include "support/rate_deviation.h"

namespace exactbloom {

std::ostream& operator<<(std::ostream& out, const Geometry& geometry) {
  return out << (geometry.layout.kind == FilterKind::kClassic ? "classic" : "standard")
             << " lines=" << geometry.layout.Lines() << " m=" << geometry.bits
             << " n=" << geometry.keys << " k=" << geometry.probes;
}

namespace {

// The joint 99.9% level shared by up to 400 comparisons: the quantile of 0.001 / 400.
constexpr double kZJoint = 4.71;

constexpr double kWantedFalsePositives = 4000;
constexpr double kFewestQueries = 4e5;
constexpr double kMostQueries = 4e6;
constexpr std::uint64_t kFewestFilters = 2;
// Where the spread between filters is estimated from them.
constexpr std::uint64_t kFewestFiltersOfLines = 40;
constexpr double kLowestMeasurableRate = 20 / kMostQueries;

// Numbers, one per filter.
struct Sample {
  double count = 0.0;
  double sum = 0.0;
  double squares = 0.0;

  void Add(double number) {
    ++count;
    sum += number;
    squares += number * number;
  }
  double Variance() const { return (squares - sum * sum / count) / (count - 1); }
};

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

struct Measurement {
  std::uint64_t filters = 0;
  std::uint64_t queries_a_filter = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t false_negatives = 0;
  std::uint64_t ones = 0;
  Moments given_fill;  // of the false positives
  Sample rates;        // given their fills
  Sample fills;        // one-bits

  std::uint64_t Queries() const { return filters * queries_a_filter; }
};

double RateOf(const Geometry& geometry) {
  return FalsePositiveRate(geometry.layout, geometry.bits, geometry.keys, geometry.probes);
}

void MeasureOneFilter(const Geometry& geometry, std::uint64_t salt, Measurement& measurement) {
  const FilterBlock block = MakeBlock(geometry, salt, 0);
  const BloomFilterView view(block.bytes());
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  for (std::uint64_t i = 0; i < geometry.keys; ++i) {
    if (!view.MayContain(NumberKey(i).text())) ++measurement.false_negatives;
  }
  for (std::uint64_t i = 0; i < measurement.queries_a_filter; ++i) {
    if (view.MayContain(NumberKey(geometry.keys + i).text())) ++measurement.false_positives;
  }
  const std::uint64_t ones = view.CountOnes();
  measurement.ones += ones;
  const double rate = RateGivenArray(block.bytes());
  measurement.rates.Add(rate);
  measurement.fills.Add(static_cast<double>(ones));
  const auto queries = static_cast<double>(measurement.queries_a_filter);
  measurement.given_fill.mean += queries * rate;
  measurement.given_fill.variance += queries * rate * (1 - rate);
}

// Spends about as much time on building filters as on querying them, so there are many small
// filters and their random fills average out.
Measurement Measure(const Geometry& geometry, std::mt19937_64& salts) {
  const double queries =
      std::clamp(kWantedFalsePositives / RateOf(geometry), kFewestQueries, kMostQueries);
  const auto all_queries = static_cast<std::uint64_t>(queries);
  Measurement measurement;
  measurement.filters = std::max(geometry.layout.InLines() ? kFewestFiltersOfLines : kFewestFilters,
                                 all_queries / geometry.keys);
  measurement.queries_a_filter = (all_queries - 1) / measurement.filters + 1;
  for (std::uint64_t i = 0; i < measurement.filters; ++i) {
    MeasureOneFilter(geometry, salts(), measurement);
  }
  return measurement;
}

// Queries of one filter share its fill: the variance of their count over the binomial variance. The
// deviation of a filter's rate is derived for lines = 0, and measured where lines have loads of
// their own.
double Dispersion(const Geometry& geometry, const Measurement& measurement) {
  const double rate = RateOf(geometry);
  const FilterSize size{geometry.bits, geometry.probes, rate};
  const double deviation =
      geometry.layout.InLines()
          ? std::sqrt(std::max(0.0, measurement.rates.Variance())) / rate
          : support::RelativeRateDeviation(geometry.layout, size, geometry.keys);
  return support::Dispersion(rate, deviation, measurement.queries_a_filter);
}

void ExpectRate(const Geometry& geometry, const Measurement& measurement) {
  const Interval interval = WilsonInterval(measurement.false_positives, measurement.Queries(),
                                           kZ999, Dispersion(geometry, measurement));
  EXPECT_TRUE(interval.Contains(RateOf(geometry)))
      << "exact rate " << RateOf(geometry) << " outside " << interval.low << " .. "
      << interval.high;
}

void ExpectRateGivenFill(const Measurement& measurement) {
  const double spread = std::sqrt(measurement.given_fill.variance);
  EXPECT_NEAR(static_cast<double>(measurement.false_positives), measurement.given_fill.mean,
              kZJoint * spread);
}

// The moments of the number of one-bits of a filter, over hash functions; with lines only the mean.
Moments OnesMoments(const Geometry& geometry) {
  const Layout layout = geometry.layout;
  if (!layout.InLines()) {
    const auto ones =
        Occupancy::OfFilter(layout.kind, geometry.bits, geometry.keys, geometry.probes);
    return {ones->Mean(), ones->Variance()};
  }
  // A key touches a line with probability lines / L, and then each bit of it with that of a word.
  const auto line_bits = static_cast<double>(kLineBits);
  const double lines = static_cast<double>(geometry.bits) / line_bits;
  const double probes = layout.ProbesPerLine(geometry.probes);
  const double touched = layout.kind == FilterKind::kClassic
                             ? probes / line_bits
                             : -std::expm1(probes * std::log1p(-1 / line_bits));
  const double zero = static_cast<double>(geometry.keys) *
                      std::log1p(-layout.Lines() / lines * touched);  // its logarithm
  return {static_cast<double>(geometry.bits) * -std::expm1(zero), 0.0};
}

void ExpectFill(const Geometry& geometry, const Measurement& measurement) {
  Moments ones = OnesMoments(geometry);
  if (geometry.layout.InLines()) ones.variance = measurement.fills.Variance();
  const auto filters = static_cast<double>(measurement.filters);
  const double rounding = 1e-9 * ones.mean;
  EXPECT_NEAR(static_cast<double>(measurement.ones) / filters, ones.mean,
              kZJoint * std::sqrt(std::max(0.0, ones.variance) / filters) + rounding);
}

void ProveRates(const std::vector<Geometry>& grid, std::uint64_t seed) {
  std::mt19937_64 salts(seed);
  for (const Geometry& geometry : grid) {
    SCOPED_TRACE(testing::Message() << geometry);
    const Measurement measurement = Measure(geometry, salts);
    EXPECT_EQ(measurement.false_negatives, 0U);
    ExpectRate(geometry, measurement);
    ExpectRateGivenFill(measurement);
    ExpectFill(geometry, measurement);
  }
}

// Filters at their best k, as they are used.
std::vector<Geometry> OptimalGrid(FilterKind kind, const std::vector<std::uint64_t>& sizes) {
  std::vector<Geometry> grid;
  for (const std::uint64_t bits : sizes) {
    for (const double bits_per_key : {2.0, 4.0, 8.0, 10.0, 14.0, 24.0}) {
      const auto keys = static_cast<std::uint64_t>(static_cast<double>(bits) / bits_per_key);
      grid.push_back({kind, bits, keys, OptimalProbes(kind, bits, keys)});
    }
  }
  return grid;
}

// Cache-line filters at their own best k: of a few lines, of about a page, of many pages; and with
// other k.
std::vector<Geometry> LineGrid(Layout layout) {
  std::vector<Geometry> grid;
  for (const std::uint64_t lines : {2, 3, 20, 64, 127, 200, 2000}) {
    const std::uint64_t bits = lines * kLineBits;
    for (const double bits_per_key : {3.0, 6.0, 10.0, 14.0}) {
      const auto keys = static_cast<std::uint64_t>(static_cast<double>(bits) / bits_per_key);
      grid.push_back({layout, bits, keys, OptimalProbes(layout, bits, keys)});
    }
  }
  for (const int probes : {2, 14, 28, 40, 72}) grid.push_back({layout, 10240, 1000, probes});
  return grid;
}

// Filters with other k: few keys, a single probe, too many probes, nearly all bits set by each key.
std::vector<Geometry> OddGrid(FilterKind kind) {
  std::vector<Geometry> grid;
  for (const auto& [bits, keys, probes] :
       std::vector<std::tuple<std::uint64_t, std::uint64_t, int>>{{64, 1, 1},
                                                                  {64, 1, 2},
                                                                  {64, 2, 3},
                                                                  {72, 3, 4},
                                                                  {80, 40, 1},
                                                                  {88, 10, 7},
                                                                  {72, 60, 3},
                                                                  {80, 3, 40},
                                                                  {64, 1, 63},
                                                                  {96, 1, 3},
                                                                  {128, 5, 72},
                                                                  {504, 30, 2},
                                                                  {520, 70, 12},
                                                                  {1000, 300, 5},
                                                                  {4104, 1000, 6},
                                                                  {512, 40, 64}}) {
    const Geometry geometry{kind, bits, keys, probes};
    if (RateOf(geometry) >= kLowestMeasurableRate) grid.push_back(geometry);
  }
  return grid;
}

const std::vector<std::uint64_t> kSmallSizes = {64, 104, 136, 256, 512, 1000, 1024, 4096};
const std::vector<std::uint64_t> kLargeSizes = {10008, 65536, 100000, 1000000, 10000000};

TEST(Rate, SmallClassicFilters) { ProveRates(OptimalGrid(FilterKind::kClassic, kSmallSizes), 1); }
TEST(Rate, SmallStandardFilters) { ProveRates(OptimalGrid(FilterKind::kStandard, kSmallSizes), 2); }
TEST(Rate, LargeClassicFilters) { ProveRates(OptimalGrid(FilterKind::kClassic, kLargeSizes), 3); }
TEST(Rate, LargeStandardFilters) { ProveRates(OptimalGrid(FilterKind::kStandard, kLargeSizes), 4); }
TEST(Rate, OddClassicFilters) { ProveRates(OddGrid(FilterKind::kClassic), 5); }
TEST(Rate, OddStandardFilters) { ProveRates(OddGrid(FilterKind::kStandard), 6); }
TEST(Rate, OneLineClassicFilters) { ProveRates(LineGrid({FilterKind::kClassic, 1}), 7); }
TEST(Rate, OneLineStandardFilters) { ProveRates(LineGrid({FilterKind::kStandard, 1}), 8); }
TEST(Rate, TwoLinesClassicFilters) { ProveRates(LineGrid({FilterKind::kClassic, 2}), 9); }
TEST(Rate, TwoLinesStandardFilters) { ProveRates(LineGrid({FilterKind::kStandard, 2}), 12); }

}  // namespace
}  // namespace exactbloom
