#include "rate_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <sstream>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "src/filter/array_builder.h"
#include "src/filter/block_format.h"
#include "src/filter/hash_store.h"
#include "src/filter/kernels/key_hash.h"
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

// The quantile of 0.001 / 800.
constexpr double kZJoint = 4.85;

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
  const auto& [kind, bits, keys, probes] = sample.geometry;
  std::ostringstream geometry;
  geometry << NameOf(kind) << ',' << bits << ',' << keys << ',' << probes << ',';
  SCOPED_TRACE(testing::Message() << geometry.str() << " kernel " << KernelName());
  ExpectFalsePositivesOfArrays(sample.false_positives, sample.given_fill);
  const double rate = FalsePositiveRate(kind, bits, keys, probes);
  rates_.push_back({geometry.str(), sample.filters, sample.filters * keys, sample.found,
                    sample.queries, sample.false_positives, rate, DispersionOf(sample, rate),
                    DrawLot(lots_)});
  given_fill_.mean += sample.given_fill.mean;
  given_fill_.variance += sample.given_fill.variance;
}

void SampleVerdict::Expect(std::uint64_t salts_seed) const {
  std::uint64_t false_positives = 0;
  for (const MeasuredRate& measured : rates_) false_positives += measured.false_positives;
  ExpectFalsePositivesOfArrays(false_positives, given_fill_);
  ExpectUniform(rates_, 0.01, salts_seed);
}

}  // namespace exactbloom
