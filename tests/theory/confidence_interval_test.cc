#include "exactbloom/theory/confidence_interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace exactbloom {
namespace {

TEST(WilsonInterval, IsTheSolutionOfItsEquation) {
  // The ends are the rates p with (s/t - p)^2 = z^2 p (1 - p) / t.
  for (const std::uint64_t successes : {1, 17, 500, 983}) {
    const double t = 1000.0;
    const double rate = static_cast<double>(successes) / t;
    const Interval interval = *WilsonInterval(successes, 1000, kZ999);
    for (const double end : {interval.low, interval.high}) {
      EXPECT_NEAR((rate - end) * (rate - end), kZ999 * kZ999 * end * (1.0 - end) / t, 1e-15);
    }
    EXPECT_TRUE(interval.Contains(rate));
  }
}

TEST(WilsonInterval, WidensAsIfOverdispersedTrialsWereFewer) {
  const Interval wide = *WilsonInterval(40, 4000, kZ999, 4.0);
  const Interval few = *WilsonInterval(10, 1000, kZ999);
  EXPECT_NEAR(wide.low, few.low, 1e-15);
  EXPECT_NEAR(wide.high, few.high, 1e-15);
}

TEST(WilsonInterval, StaysWithinZeroAndOne) {
  EXPECT_EQ(WilsonInterval(0, 0, kZ999)->low, 0.0);
  EXPECT_EQ(WilsonInterval(0, 0, kZ999)->high, 1.0);
  EXPECT_EQ(WilsonInterval(0, 100, kZ999)->low, 0.0);
  EXPECT_GT(WilsonInterval(0, 100, kZ999)->high, 0.0);
  EXPECT_EQ(WilsonInterval(100, 100, kZ999)->high, 1.0);
  EXPECT_LT(WilsonInterval(100, 100, kZ999)->low, 1.0);
  for (const auto& interval : {WilsonInterval(1, 10, 1e155), WilsonInterval(1, 10, 1e100),
                               WilsonInterval(1, 10, 10.0, 1e308)}) {
    EXPECT_NEAR(interval->low, 0.0, 1e-15);
    EXPECT_NEAR(interval->high, 1.0, 1e-15);
  }
  EXPECT_EQ(WilsonInterval(1, 10, 0.0, 1e308)->high, 0.1);
}

TEST(WilsonInterval, HoldsTheRate) {
  for (const std::uint64_t trials : {1, 3, 10, 97, 1'000'003}) {
    for (std::uint64_t successes = 0; successes <= std::min<std::uint64_t>(trials, 100);
         ++successes) {
      for (const double z : {0.0, 1e-9, 1.0, kZ999}) {
        const double rate = static_cast<double>(successes) / static_cast<double>(trials);
        EXPECT_TRUE(WilsonInterval(successes, trials, z)->Contains(rate)) << successes;
      }
    }
  }
}

TEST(WilsonInterval, RefusesWhatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(WilsonInterval(5, 4, kZ999));
  EXPECT_FALSE(WilsonInterval(1, 4, -1.0));
  EXPECT_FALSE(WilsonInterval(1, 4, nan));
  EXPECT_FALSE(WilsonInterval(1, 4, infinity));
  EXPECT_FALSE(WilsonInterval(1, 4, kZ999, infinity));
  EXPECT_FALSE(WilsonInterval(1, 4, kZ999, 0.5));
  EXPECT_FALSE(WilsonInterval(1, 4, kZ999, nan));
}

TEST(WilsonInterval, UsesTheQuantileItNames) {
  EXPECT_NEAR(std::erfc(kZ999 / std::sqrt(2.0)), 0.001, 1e-15);
}

}  // namespace
}  // namespace exactbloom
