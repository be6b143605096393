// The statistical proof: filters let through exactly the share of absent keys that the exact rate
// says, at hundreds of geometries drawn at random and some odd ones, of every kind and
// kernel.
//
// Each geometry is measured on many filters, each with its own salt, because the exact rate is an
// average over hash functions. Each geometry's count becomes a p-value, and all of them together
// have to be uniform (statistics.h): a correct filter would, with random seeds, fail this test once
// in 10,000 times, however many queries are asked. rate_sample.h says what else is compared.
//
// EXACTBLOOM_RATE_QUERIES sets about how many absent keys are asked for in all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <tuple>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "rate_sample.h"
#include "sample_filters.h"
#include "src/filter/kernels/kernel.h"

namespace exactbloom {
namespace {

constexpr int kGeometriesPerKind = 80;
constexpr double kFalsePositives = 1000;  // wanted for each geometry
constexpr double kFewestQueries = 5e4;
constexpr double kMostQueries = 5e5;
constexpr std::uint64_t kFewestFilters = 2;

Keys TextsOf(const std::vector<NumberKey>& numbers) {
  Keys texts;
  for (const NumberKey& number : numbers) texts.push_back(number.text());
  return texts;
}

double RateOf(const Geometry& geometry) {
  return FalsePositiveRate(geometry.kind, geometry.bits, geometry.keys, geometry.probes);
}

class GeometryDraw {
 public:
  explicit GeometryDraw(std::uint64_t seed) : random_(seed) {}

  // A size between a handful of bytes and 128 KiB, 2 to 16 bits per key, and mostly about the best
  // k; with a rate that is neither too small to measure nor almost one.
  Geometry operator()(BloomKind kind) {
    constexpr double kLeastRate = 2e-4;
    constexpr double kMostRate = 0.9;
    for (;;) {
      const Geometry geometry = Any(kind);
      const double rate = RateOf(geometry);
      if (rate >= kLeastRate && rate <= kMostRate) return geometry;
    }
  }

 private:
  Geometry Any(BloomKind kind) {
    constexpr double kLeastBits = 64;
    constexpr double kMostBits = 1 << 20;
    const double wanted = kLeastBits * std::pow(kMostBits / kLeastBits, Share());
    const std::uint64_t bits = static_cast<std::uint64_t>(wanted) / 8 * 8;
    const double bits_per_key = 2 + 14 * Share();
    const auto keys = static_cast<std::uint64_t>(static_cast<double>(bits) / bits_per_key);
    const double share_of_best = Share() < 0.5 ? 1.0 : 0.3 + 1.7 * Share();
    const double probes = share_of_best * OptimalProbes(kind, bits, keys);
    return {kind, bits, keys, std::max(1, static_cast<int>(std::lround(probes)))};
  }

  double Share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  std::mt19937_64 random_;
};

// Few keys, a single probe, too many probes, nearly all bits set by each key; and large filters.
std::vector<Geometry> OddGeometries() {
  constexpr double kLowestMeasurableRate = 5e-6;
  std::vector<Geometry> odd;
  for (const BloomKind kind : {BloomKind::kClassic, BloomKind::kStandard}) {
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
                                                                    {512, 40, 64},
                                                                    {10000000, 1000000, 7},
                                                                    {10000000, 2500000, 3}}) {
      const Geometry geometry{kind, bits, keys, probes};
      if (RateOf(geometry) >= kLowestMeasurableRate) odd.push_back(geometry);
    }
    for (const int probes : {2, 14, 28}) odd.push_back({kind, 10240, 1000, probes});
  }
  return odd;
}

double QueriesOf(const Geometry& geometry) {
  return std::clamp(kFalsePositives / RateOf(geometry), kFewestQueries, kMostQueries);
}

// As many absent keys as each filter has, so that building takes no more time than asking.
RateSample Sample(const Geometry& geometry, double queries, std::mt19937_64& salts) {
  const auto all = static_cast<std::uint64_t>(queries);
  const std::uint64_t filters = std::max(kFewestFilters, all / geometry.keys);
  std::vector<NumberKey> present;
  std::vector<NumberKey> absent;
  for (std::uint64_t i = 0; i < geometry.keys; ++i) present.emplace_back(i);
  for (std::uint64_t i = 0; i <= (all - 1) / filters; ++i) absent.emplace_back(geometry.keys + i);
  return TakeSample(geometry, TextsOf(present), TextsOf(absent), filters, salts);
}

TEST(Rate, PValuesOfManyGeometriesAreUniform) {
  std::vector<Geometry> geometries = OddGeometries();
  GeometryDraw draw(11);
  for (int i = 0; i < kGeometriesPerKind; ++i) {
    for (const BloomKind kind : BloomKinds()) geometries.push_back(draw(kind));
  }
  double usual_queries = 0.0;
  for (const Geometry& geometry : geometries) usual_queries += QueriesOf(geometry);
  const char* wanted = std::getenv("EXACTBLOOM_RATE_QUERIES");
  const double factor = wanted == nullptr ? 1.0 : std::strtod(wanted, nullptr) / usual_queries;
  ASSERT_GT(factor, 0.0) << "EXACTBLOOM_RATE_QUERIES";

  const std::vector<filter::InstructionSet> sets = filter::AvailableInstructionSets();
  constexpr std::uint64_t kSaltsSeed = 12;
  std::mt19937_64 salts(kSaltsSeed);
  SampleVerdict verdict(13);
  // The kinds of the random ones take turns; each round uses one kernel.
  for (std::size_t i = 0; i < geometries.size(); ++i) {
    filter::UseInstructionSet(sets[i / BloomKinds().size() % sets.size()]);
    const double queries = std::max(kFewestQueries, factor * QueriesOf(geometries[i]));
    verdict.Add(Sample(geometries[i], queries, salts));
  }
  filter::UseInstructionSet(sets.front());
  verdict.Expect(kSaltsSeed);
}

}  // namespace
}  // namespace exactbloom
