// The division of bits among runs; levels_test.cc compares it with the best one.
#include "src/analysis/run_division.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exactbloom/layout.h"
#include "exactbloom/ribbon_filter.h"

namespace exactbloom::analysis {
namespace {

// Four runs of 1e5 keys are given as one element.
TEST(RunDivision, OfEqualRunsIsThatOfEachByItself) {
  const EqualRuns one = {1e5};
  const std::vector<double> together = DivideAmongRuns({{1e5, 4.0}, {3e6}}, 3e7);
  const std::vector<double> apart = DivideAmongRuns({one, one, one, one, {3e6}}, 3e7);
  ASSERT_EQ(together.size(), 2U);
  ASSERT_EQ(apart.size(), 5U);
  for (std::size_t run = 0; run < 4; ++run) EXPECT_NEAR(apart[run], together[0], 1e-6);
  EXPECT_NEAR(apart[4], together[1], 1e-6);
  EXPECT_GT(together[0], together[1] + 1.0);
}

// The rate of a Ribbon filter is linear between whole numbers of bits, where each bit is worth as
// much as the next, and ends at kMaxRibbonBitsPerKey.
TEST(RunDivision, UsesAllBitsBetweenNoneAndTheMost) {
  for (const bool ribbon : {false, true}) {
    const std::vector<EqualRuns> runs = {{1e3, 3.0}, {1e5, 1.0, ribbon}};
    const double keys = 3e3 + 1e5;
    for (int step = 0; step < 1200; step += step < 200 ? 1 : 50) {
      const double average = 0.1 * step;
      const std::vector<double> bits = DivideAmongRuns(runs, average * keys);
      double used = 0.0;
      for (std::size_t run = 0; run < runs.size(); ++run) {
        EXPECT_GE(bits[run], 0.0);
        EXPECT_LE(bits[run], kMaxBitsPerKey);
        used += bits[run] * runs[run].keys * runs[run].count;
      }
      const double most = ribbon ? kMaxRibbonBitsPerKey : kMaxBitsPerKey;
      if (average <= most) {
        EXPECT_NEAR(used, average * keys, 1.0) << average;
      } else {
        EXPECT_GE(used, (most - 1e-6) * keys);
      }
    }
  }
  EXPECT_TRUE(DivideAmongRuns({}, 100.0).empty());
}

TEST(LargeRibbonRate, IsThatOfAMillionKeys) {
  for (double bits_per_key = kMinRibbonBitsPerKey; bits_per_key <= kMaxRibbonBitsPerKey;
       bits_per_key += 0.1) {
    RibbonFilterBuilder::Options options;
    options.bits_per_key = bits_per_key;
    const RibbonFilterBuilder builder = *RibbonFilterBuilder::Create(options);
    for (const std::uint64_t keys : {1'000'000U, 100'000'000U}) {
      const double rate = builder.Plan(keys).FalsePositiveRate();
      EXPECT_NEAR(LargeRibbonRate(bits_per_key), rate, 0.002 * rate) << bits_per_key;
    }
    const double of_few = builder.Plan(20'000).FalsePositiveRate();
    EXPECT_GE(of_few, LargeRibbonRate(bits_per_key));
    EXPECT_LE(of_few, 1.06 * LargeRibbonRate(bits_per_key)) << bits_per_key;
  }
}

}  // namespace
}  // namespace exactbloom::analysis
