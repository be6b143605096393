// Tests the test of p-values against tabulated distributions, and shows that it can fail.
#include "statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace exactbloom {
namespace {

double Lot(std::mt19937_64& random) {
  return (static_cast<double>(random() >> 12) + 0.5) * 0x1p-52;
}

TEST(RandomisedPValue, IsTheBinomialDistribution) {
  const ExpectedCount expected{10, 0.3, 1.0};
  // P(X < 3) and P(X <= 3) of ten trials.
  EXPECT_NEAR(RandomisedPValue(3, expected, 0.0), 0.3827827864, 1e-10);
  EXPECT_NEAR(RandomisedPValue(3, expected, 1.0), 0.6496107184, 1e-10);
  EXPECT_NEAR(RandomisedPValue(3, expected, 0.5), (0.3827827864 + 0.6496107184) / 2, 1e-10);
  EXPECT_NEAR(RandomisedPValue(10, expected, 1.0), 1.0, 1e-12);
  EXPECT_NEAR(RandomisedPValue(0, expected, 1.0), std::pow(0.7, 10), 1e-12);
}

// Two queries that share their fill: beta-binomial with a = 1, b = 1 has the three counts equally
// likely, and a variance of 2/3 where the binomial one is 1/2.
TEST(RandomisedPValue, IsWiderWithDispersion) {
  const ExpectedCount expected{2, 0.5, 4.0 / 3};
  EXPECT_NEAR(RandomisedPValue(0, expected, 1.0), 1.0 / 3, 1e-12);
  EXPECT_NEAR(RandomisedPValue(1, expected, 1.0), 2.0 / 3, 1e-12);
  EXPECT_NEAR(RandomisedPValue(2, expected, 0.5), 5.0 / 6, 1e-12);
}

// A grid of p-values as even as possible has nearly the least statistic there is, and an impossible
// count an infinite one.
TEST(AndersonDarling, IsSmallForAnEvenGridAndInfiniteForImpossibleCounts) {
  std::vector<double> even;
  for (int i = 0; i < 100; ++i) even.push_back((i + 0.5) / 100);
  EXPECT_LT(AndersonDarling(even), 0.1);
  EXPECT_EQ(AndersonDarling({0.0, 0.5}), INFINITY);
  EXPECT_EQ(AndersonDarling({0.5, 1.0}), INFINITY);
}

// The 99th of a hundred quantiles is 3.857 (Anderson and Darling 1954).
TEST(AndersonDarling, ExceedsItsQuantilesAsOftenAsItShould) {
  constexpr int kRounds = 4000;
  constexpr int kPValues = 100;
  std::mt19937_64 random(31);
  int above = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> p_values;
    for (int i = 0; i < kPValues; ++i) p_values.push_back(Lot(random));
    const double statistic = AndersonDarling(p_values);
    if (statistic > 3.857) ++above;
    EXPECT_LT(statistic, 1.5 * kAndersonDarling9999);
  }
  EXPECT_NEAR(above, kRounds / 100, 3.29 * std::sqrt(kRounds / 100));
}

}  // namespace
}  // namespace exactbloom
