// The division of bits among runs; levels_test.cc compares it with the best one.
#include "src/analysis/run_division.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exactbloom/layout.h"

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
// much as the next, and ends at 32 bits.
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
      const double most = ribbon ? 32.0 : kMaxBitsPerKey;
      if (average <= most) {
        EXPECT_NEAR(used, average * keys, 1.0) << average;
      } else {
        EXPECT_GE(used, (most - 1e-6) * keys);
      }
    }
  }
  EXPECT_TRUE(DivideAmongRuns({}, 100.0).empty());
}

// Ribbon filters take more bits per key the more keys they have.
TEST(RunDivision, KnowsTheOverheadOfRibbonFilters) {
  const std::vector<double> bits =
      DivideAmongRuns({{1e5, 1.0, true}, {1e9, 1.0, true}}, 36.5 * 1.0001e9);
  EXPECT_LT(bits[0] + 0.5, bits[1]);
}

}  // namespace
}  // namespace exactbloom::analysis
