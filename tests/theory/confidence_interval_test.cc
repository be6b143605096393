#include "exactbloom/theory/confidence_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace exactbloom {
namespace {

TEST(WilsonInterval, IsTheSolutionOfItsEquation) {
  // The ends are the rates p with (s/t - p)^2 = z^2 p (1 - p) / t.
  for (const std::uint64_t successes : {1, 17, 500, 983}) {
    const double t = 1000.0;
    const double rate = static_cast<double>(successes) / t;
    const Interval interval = WilsonInterval(successes, 1000, kZ999);
    for (const double end : {interval.low, interval.high}) {
      EXPECT_NEAR((rate - end) * (rate - end), kZ999 * kZ999 * end * (1.0 - end) / t, 1e-15);
    }
    EXPECT_TRUE(interval.Contains(rate));
  }
}

TEST(WilsonInterval, WidensAsIfOverdispersedTrialsWereFewer) {
  const Interval wide = WilsonInterval(40, 4000, kZ999, 4.0);
  const Interval few = WilsonInterval(10, 1000, kZ999);
  EXPECT_NEAR(wide.low, few.low, 1e-15);
  EXPECT_NEAR(wide.high, few.high, 1e-15);
}

TEST(WilsonInterval, StaysWithinZeroAndOne) {
  EXPECT_EQ(WilsonInterval(0, 0, kZ999).low, 0.0);
  EXPECT_EQ(WilsonInterval(0, 0, kZ999).high, 1.0);
  EXPECT_EQ(WilsonInterval(0, 100, kZ999).low, 0.0);
  EXPECT_GT(WilsonInterval(0, 100, kZ999).high, 0.0);
  EXPECT_EQ(WilsonInterval(100, 100, kZ999).high, 1.0);
  EXPECT_LT(WilsonInterval(100, 100, kZ999).low, 1.0);
}

TEST(WilsonInterval, UsesTheQuantileItNames) {
  EXPECT_NEAR(std::erfc(kZ999 / std::sqrt(2.0)), 0.001, 1e-15);
}

}  // namespace
}  // namespace exactbloom
