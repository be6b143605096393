#include "rate_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <memory>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "filter/array_builder.h"
#include "filter/block_format.h"
#include "filter/hash_store.h"
#include "filter/kernels/key_hash.h"
#include "support/rate_deviation.h"
#include "uniformity.h"

namespace exactbloom {
namespace {

// Builds a block as the builder does, for any geometry.
FilterBlock BuildBlock(const FilterDescription& filter, const Keys& keys) {
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

std::uint64_t CountPositives(const BloomFilterView& view, const Keys& keys, std::size_t count,
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
      geometry.layout, {geometry.bits, geometry.probes, rate}, geometry.keys);
  return support::Dispersion(rate, deviation, sample.queries / sample.filters);
}

}  // namespace

RateSample TakeSample(const Geometry& geometry, const Keys& present, const Keys& absent,
                      std::uint64_t filters, std::mt19937_64& salts) {
  RateSample sample;
  sample.geometry = geometry;
  sample.kernel = KernelName();
  sample.filters = filters;
  sample.queries = filters * absent.size();
  sample.checks = filters * geometry.keys;
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < filters; ++i) {
    const FilterBlock block = BuildBlock(
        {geometry.layout, geometry.probes, geometry.bits, geometry.keys, salts()}, present);
    const BloomFilterView view(block.bytes());
    EXPECT_EQ(view.Status(), BlockStatus::kUsable);
    const bool batched = i % 2 == 0;
    found += CountPositives(view, present, static_cast<std::size_t>(geometry.keys), batched);
    sample.false_positives += CountPositives(view, absent, absent.size(), batched);
  }
  sample.false_negatives = sample.checks - found;
  return sample;
}

void SampleVerdict::Add(const RateSample& sample) {
  const Geometry& geometry = sample.geometry;
  Scored scored;
  scored.sample = sample;
  scored.rate = FalsePositiveRate(geometry.layout, geometry.bits, geometry.keys, geometry.probes);
  scored.dispersion = DispersionOf(sample, scored.rate);
  scored.lot = (static_cast<double>(lots_() >> 12) + 0.5) * 0x1p-52;
  scored_.push_back(scored);
}

double SampleVerdict::StatisticIfRatesWere(double factor) const {
  std::vector<double> p_values;
  for (const Scored& scored : scored_) {
    const ExpectedCount expected{scored.sample.queries, scored.rate * factor, scored.dispersion};
    p_values.push_back(RandomisedPValue(scored.sample.false_positives, expected, scored.lot));
  }
  return AndersonDarling(p_values);
}

void SampleVerdict::Expect(bool print) const {
  std::uint64_t queries = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t checks = 0;
  double expected = 0.0;
  for (const Scored& scored : scored_) {
    const RateSample& sample = scored.sample;
    EXPECT_EQ(sample.false_negatives, 0U) << sample.geometry.bits << " bits, " << sample.kernel;
    queries += sample.queries;
    false_positives += sample.false_positives;
    checks += sample.checks;
    expected += scored.rate * static_cast<double>(sample.queries);
  }
  const double statistic = StatisticIfRatesWere(1.0);
  const double if_higher = StatisticIfRatesWere(1.01);
  const double if_lower = StatisticIfRatesWere(0.99);
  EXPECT_LT(statistic, kAndersonDarling9999);
  EXPECT_GT(if_higher, kAndersonDarling9999);
  EXPECT_GT(if_lower, kAndersonDarling9999);
  testing::Test::RecordProperty("geometries", std::to_string(scored_.size()));
  testing::Test::RecordProperty("queries", std::to_string(queries));
  testing::Test::RecordProperty("anderson_darling", std::to_string(statistic));
  if (!print) return;
  std::cout << scored_.size() << " samples; " << checks << " keys asked for, none missed; "
            << queries << " absent keys, " << false_positives << " false positives, " << expected
            << " expected; Anderson-Darling " << statistic << " of at most " << kAndersonDarling9999
            << ", were the rates 1% higher or lower " << if_higher << " and " << if_lower << '\n';
}

}  // namespace exactbloom
