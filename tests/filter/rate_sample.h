// Counts of false positives, for the tests that make p-values of many of them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sample_filters.h"

namespace exactbloom {

using Keys = std::vector<std::string_view>;

struct RateSample {
  Geometry geometry;
  std::string kernel;
  std::uint64_t filters = 0;
  std::uint64_t queries = 0;  // for absent keys, in all filters
  std::uint64_t false_positives = 0;
  std::uint64_t checks = 0;  // for keys that were added
  std::uint64_t false_negatives = 0;
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

  void Add(const RateSample& sample);

  // Expects that no key was missed and that the p-values are uniform; and that they would not be if
  // each rate were a hundredth higher or lower. Records the figures as properties of the test, and
  // prints them if asked to.
  void Expect(bool print) const;

 private:
  double StatisticIfRatesWere(double factor) const;

  struct Scored {
    RateSample sample;
    double rate = 0.0;
    double dispersion = 1.0;
    double lot = 0.0;
  };

  std::mt19937_64 lots_;
  std::vector<Scored> scored_;
};

}  // namespace exactbloom
