#include "rate_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <memory>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "src/filter/array_builder.h"
#include "src/filter/block_format.h"
#include "src/filter/hash_store.h"
#include "src/filter/kernels/key_hash.h"
#include "statistics.h"
#include "support/rate_deviation.h"

namespace exactbloom {
namespace {

// Builds a block as the builder does, for any geometry.
FilterBlock BuildBlock(const filter::BloomDescription& filter, const Keys& keys) {
  filter::HashStore hashes;
  for (std::uint64_t i = 0; i < filter.keys; ++i) {
    hashes.Append(filter::HashKey(keys[static_cast<std::size_t>(i)], filter.hash_seed));
  }
  FilterBlock block;
  block.size = static_cast<std::size_t>(filter::BlockBytes(filter));
  block.data.reset(new char[block.size]);
  auto* array = reinterpret_cast<unsigned char*>(block.data.get());
  filter::BuildArray(array, filter, hashes);
  filter::EncodeTrailer(filter, array);
  return block;
}

std::uint64_t CountPositives(const FilterView& view, const Keys& keys, std::size_t count,
                             bool batched) {
  if (!batched) {
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(count);
    return static_cast<std::uint64_t>(
        std::count_if(keys.begin(), end, [&](auto key) { return view.MayContain(key); }));
  }
  const std::unique_ptr<bool[]> results(new bool[count]);
  view.MayContain(keys.data(), count, results.get());
  return static_cast<std::uint64_t>(std::count(results.get(), results.get() + count, true));
}

double DispersionOf(const RateSample& sample, double rate) {
  const Geometry& geometry = sample.geometry;
  const double deviation = support::RelativeRateDeviation(
      geometry.kind, {geometry.bits, geometry.probes, rate}, geometry.keys);
  return support::Dispersion(rate, deviation, sample.queries / sample.filters);
}

// The quantiles of 0.001 / 800.
constexpr double kZJoint = 4.85;
constexpr double kLeastPValue = 6e-7;

void ExpectFalsePositivesOfArrays(std::uint64_t false_positives, const Moments& given_fill) {
  EXPECT_NEAR(static_cast<double>(false_positives), given_fill.mean,
              kZJoint * std::sqrt(given_fill.variance) + 1e-9 * given_fill.mean);
}

}  // namespace

RateSample TakeSample(const Geometry& geometry, const Keys& present, const Keys& absent,
                      std::uint64_t filters, std::mt19937_64& salts) {
  RateSample sample;
  sample.geometry = geometry;
  sample.filters = filters;
  sample.queries = filters * absent.size();
  for (std::uint64_t i = 0; i < filters; ++i) {
    const FilterBlock block = BuildBlock(
        {geometry.kind, geometry.probes, geometry.bits, geometry.keys, salts()}, present);
    const FilterView view(block.bytes());
    EXPECT_EQ(view.Status(), BlockStatus::kUsable);
    const bool batched = i % 2 == 0;
    sample.found += CountPositives(view, present, static_cast<std::size_t>(geometry.keys), batched);
    sample.false_positives += CountPositives(view, absent, absent.size(), batched);
    const double rate = RateGivenArray(block.bytes());
    const double expected = rate * static_cast<double>(absent.size());
    sample.given_fill.mean += expected;
    sample.given_fill.variance += expected * (1 - rate);
  }
  return sample;
}

void SampleVerdict::Add(const RateSample& sample) {
  const Geometry& geometry = sample.geometry;
  SCOPED_TRACE(testing::Message() << NameOf(geometry.kind) << " m=" << geometry.bits
                                  << " n=" << geometry.keys << " k=" << geometry.probes
                                  << ", kernel " << KernelName());
  EXPECT_EQ(sample.found, sample.filters * geometry.keys);
  ExpectFalsePositivesOfArrays(sample.false_positives, sample.given_fill);
  Scored scored;
  scored.sample = sample;
  scored.rate = FalsePositiveRate(geometry.kind, geometry.bits, geometry.keys, geometry.probes);
  scored.dispersion = DispersionOf(sample, scored.rate);
  scored.lot = (static_cast<double>(lots_() >> 12) + 0.5) * 0x1p-52;
  scored_.push_back(scored);
}

std::vector<double> SampleVerdict::PValuesIfRatesWere(double factor) const {
  std::vector<double> p_values;
  for (const Scored& scored : scored_) {
    const ExpectedCount expected{scored.sample.queries, scored.rate * factor, scored.dispersion};
    p_values.push_back(RandomisedPValue(scored.sample.false_positives, expected, scored.lot));
  }
  return p_values;
}

void SampleVerdict::Expect(bool print) const {
  std::uint64_t queries = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t found = 0;
  double expected = 0.0;
  Moments given_fill;
  for (const Scored& scored : scored_) {
    const RateSample& sample = scored.sample;
    queries += sample.queries;
    false_positives += sample.false_positives;
    found += sample.found;
    expected += scored.rate * static_cast<double>(sample.queries);
    given_fill.mean += sample.given_fill.mean;
    given_fill.variance += sample.given_fill.variance;
  }
  ExpectFalsePositivesOfArrays(false_positives, given_fill);
  const std::vector<double> p_values = PValuesIfRatesWere(1.0);
  for (std::size_t i = 0; i < p_values.size(); ++i) {
    const Geometry& geometry = scored_[i].sample.geometry;
    EXPECT_NEAR(p_values[i], 0.5, 0.5 - kLeastPValue)
        << NameOf(geometry.kind) << " m=" << geometry.bits << " n=" << geometry.keys
        << " k=" << geometry.probes;
  }
  const double statistic = AndersonDarling(p_values);
  const double if_higher = AndersonDarling(PValuesIfRatesWere(1.01));
  const double if_lower = AndersonDarling(PValuesIfRatesWere(0.99));
  EXPECT_LT(statistic, kAndersonDarling9999);
  EXPECT_GT(if_higher, kAndersonDarling9999);
  EXPECT_GT(if_lower, kAndersonDarling9999);
  if (!print) return;
  Print({scored_.size(), found, queries, false_positives, expected, statistic});
  std::cout << "of at most " << kAndersonDarling9999 << "; were the rates 1% higher or lower, "
            << if_higher << " and " << if_lower << '\n';
}

}  // namespace exactbloom
