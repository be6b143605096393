// Counts of false positives, for the tests that make p-values of many of them.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "sample_filters.h"
#include "statistics.h"

namespace exactbloom {

using Keys = std::vector<std::string_view>;

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

struct RateSample {
  Geometry geometry;
  std::uint64_t filters = 0;
  std::uint64_t queries = 0;  // for absent keys, in all filters
  std::uint64_t false_positives = 0;
  std::uint64_t found = 0;  // of the keys that were added
  Moments given_fill;       // of the false positives, by the filters' actual arrays
};

// Builds `filters` filters of the geometry, each with its own salt, by the kernel in use; asks each
// for the first `keys` keys of `present`, which it holds, and for those of `absent`. Every other
// filter is asked in batches.
RateSample TakeSample(const Geometry& geometry, const Keys& present, const Keys& absent,
                      std::uint64_t filters, std::mt19937_64& salts);

// Compares samples with the exact rates of their geometries.
class SampleVerdict {
 public:
  // Draws the lots of the p-values from the seed.
  explicit SampleVerdict(std::uint64_t seed) : lots_(seed) {}

  // Expects that the false positives are as many as the filters' actual arrays predict, where no
  // average over hash functions is left. Names the kernel in use. Of up to 800 such comparisons of
  // correct filters one fails in 0.1% of all cases.
  void Add(const RateSample& sample);

  // Expects that all false positives together are as many as the arrays predict, and ExpectUniform
  // at 1%. `salts_seed` is that of the filters' salts.
  void Expect(std::uint64_t salts_seed) const;

 private:
  std::mt19937_64 lots_;
  std::vector<MeasuredRate> rates_;
  Moments given_fill_;
};

}  // namespace exactbloom
