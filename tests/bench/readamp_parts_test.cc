// Parts of readamp, tested separately.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "readamp/keys/key_set.h"
#include "readamp/keys/synthetic_key.h"
#include "readamp/lookups/workload.h"
#include "tool/support/rate_deviation.h"

namespace exactbloom::readamp {
namespace {

TEST(SyntheticKey, IsDifferentForEachNumberAndTellsIt) {
  std::set<std::string> keys;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::string key = SyntheticKey(i, 7);
    EXPECT_EQ(key.size(), 16U);
    EXPECT_EQ(NumberOfSyntheticKey(key, 7), i);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 1000U);
  EXPECT_NE(SyntheticKey(0, 7), SyntheticKey(0, 8));
  for (const auto* other : {"apple", "0123456789abcdeg", "00123456789abcdef"}) {
    EXPECT_FALSE(NumberOfSyntheticKey(other, 7)) << other;
  }
}

// Keys are ranked by their numbers. Pearson's statistic of ten classes has nine degrees of freedom;
// it exceeds 27.9 once in a thousand.
TEST(Zipf, KeysHaveTheirProbabilities) {
  constexpr std::size_t kClasses = 10;
  constexpr double kMost = 27.9;
  ReadampSettings settings;
  settings.synthetic_keys = 100;
  settings.lookups = 20'000;
  settings.workloads = {"zipf"};
  const KeySet keys = MakeKeySet(settings);
  for (const double exponent : {0.0, 0.5, 1.0, 2.5}) {
    SCOPED_TRACE(exponent);
    settings.zipf_exponent = exponent;
    std::array<double, kClasses> counts{};  // the last one is of all other keys
    std::array<double, kClasses> weights{};
    const std::vector<Workload> workloads = MakeWorkloads(keys, settings);
    for (const std::size_t i : workloads.front().order) {
      counts.at(std::min(i, kClasses - 1)) += 1.0;
    }
    double total = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const double weight = std::pow(static_cast<double>(i + 1), -exponent);
      weights.at(std::min(i, kClasses - 1)) += weight;
      total += weight;
    }
    double statistic = 0.0;
    for (std::size_t i = 0; i < kClasses; ++i) {
      const double expected = static_cast<double>(settings.lookups) * weights.at(i) / total;
      statistic += std::pow(counts.at(i) - expected, 2) / expected;
    }
    EXPECT_LT(statistic, kMost);
  }
}

// Filters that differ only in their layout.
TEST(ExactRates, KeepLayoutsApart) {
  support::ExactRates rates;
  for (const FilterKind kind : {FilterKind::kStandard, FilterKind::kClassic}) {
    for (const int lines : {0, 1}) {
      const FilterDescription filter{Layout(kind, lines), 6, 8192, 800, 0};
      const double exact =
          FalsePositiveRate(filter.layout, filter.bits, filter.keys, filter.probes);
      EXPECT_EQ(rates.Of(filter).mean, exact);
      EXPECT_EQ(rates.MeanOf(filter), exact);  // from memory
      EXPECT_GT(rates.Of(filter).relative_deviation, 0.0);
    }
  }
}

}  // namespace
}  // namespace exactbloom::readamp
