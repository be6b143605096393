#include "exactbloom/theory/bounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/theory/occupancy.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr BloomKind kStandard = BloomKind::kStandard;

TEST(GoelGuptaBound, IsAboveTheExactRate) {
  for (const std::uint64_t bits : {2, 3, 5, 8, 13, 64, 200, 512, 4096, 1'000'000}) {
    for (int probes = 1; probes <= 40; probes += 1 + probes / 8) {
      for (std::uint64_t keys = 1; keys <= 4 * bits; keys += 1 + keys / 2) {
        EXPECT_GE(GoelGuptaBound(bits, keys, probes),
                  FalsePositiveRate(kStandard, bits, keys, probes) * (1.0 - 1e-12))
            << bits << " " << keys << " " << probes;
      }
    }
  }
}

TEST(GoelGuptaBound, IsLooserThanBloomsFormula) {
  EXPECT_NEAR(GoelGuptaBound(240, 24, 7), 0.00923, 5e-6);
  EXPECT_NEAR(BloomRate(240, 24, 7), 0.00880, 5e-6);
  EXPECT_NEAR(FalsePositiveRate(kStandard, 240, 24, 7), 0.00850, 5e-6);
  EXPECT_NEAR(GoelGuptaBound(1001, 100, 7), std::pow(1.0 - std::exp(-0.7035), 7), 1e-14);
}

// (57), the first term alone, is 2.6% low where this is .013% off.
TEST(SecondOrderRate, IsNearTheExactRate) {
  const auto error = [](std::uint64_t bits, std::uint64_t keys, int probes, double rate) {
    return std::abs(rate / FalsePositiveRate(kStandard, bits, keys, probes) - 1.0);
  };
  const auto second = [&](std::uint64_t bits, std::uint64_t keys, int probes) {
    return error(bits, keys, probes, SecondOrderRate(bits, keys, probes));
  };
  EXPECT_NEAR(second(64, 4, 10), 0.011, 5e-4);
  EXPECT_NEAR(second(240, 24, 7), 0.00013, 5e-6);
  EXPECT_NEAR(second(1000, 100, 7), 0.000008, 5e-7);
  const double first = FalsePositiveRateBounds(kStandard, 240, 24, 7)->low;
  EXPECT_NEAR(error(240, 24, 7, first), 0.026, 5e-4);
}

TEST(SecondOrderRate, EqualsItsFormulaInManyDigits) {
  for (const std::uint64_t bits : {240ULL, 1'000'000'000'000ULL}) {
    for (const std::uint64_t keys : {std::uint64_t{1}, bits / 10}) {
      const auto zero = oracle::BallsZero(bits, keys * 7);
      const oracle::Real mean = oracle::Real(bits) * oracle::AllOnes(zero, 1);
      const oracle::Real variance =
          2 * oracle::Binomial(bits, 2) * oracle::AllOnes(zero, 2) + mean - mean * mean;
      const oracle::Real p = mean / oracle::Real(bits);
      const oracle::Real truth = oracle::Power(p, 7) + 21 * oracle::Power(p, 5) * variance /
                                                           oracle::Real(bits) / oracle::Real(bits);
      EXPECT_LE(oracle::RelativeError(SecondOrderRate(bits, keys, 7), truth), 1e-12);
    }
  }
}

// A bound that holds for all draws is wider than the deviation that these draws have.
TEST(AzumaHoeffdingDeviation, IsWiderThanTheExactDeviation) {
  const double three_sigma = std::erfc(3.0 / std::sqrt(2.0));
  const auto occupancy = Occupancy::OfFilter(kStandard, 1'000'000, 100'000, 7);
  EXPECT_NEAR(3.0 * std::sqrt(occupancy->Variance()), 834.47, 0.005);
  EXPECT_NEAR(AzumaHoeffdingDeviation(1'000'000, 100'000, 7, three_sigma), 1520.76, 0.005);
  // By the bits, which are fewer than the draws here, as the encyclopedia has it.
  EXPECT_NEAR(AzumaHoeffdingDeviation(1'000'000, 1'000'000, 7, 0.0027), 1817.643, 0.0005);
  // The probability of a deviation is below the bound's, exactly.
  const auto small = Occupancy::OfFilter(kStandard, 1000, 100, 7);
  const MassFunction pmf = *small->Pmf();
  for (const double probability : {0.5, 0.01, 1e-6}) {
    const double deviation = AzumaHoeffdingDeviation(1000, 100, 7, probability);
    double beyond = 0.0;
    for (std::size_t i = 0; i < pmf.values.size(); ++i) {
      const double x = static_cast<double>(pmf.first + i);
      if (std::abs(x - small->Mean()) >= deviation) beyond += pmf.values[i];
    }
    EXPECT_LT(beyond, probability);
  }
}

TEST(FactorialMomentBounds, EncloseTheExactMoments) {
  for (const BloomKind kind : {kStandard, BloomKind::kClassic}) {
    for (const std::uint64_t bits : {10, 64, 1000, 1'000'000}) {
      for (const std::uint64_t keys : {std::uint64_t{0}, std::uint64_t{1}, bits / 10, bits}) {
        for (const int probes : {1, 3, 7}) {
          const auto ones = Occupancy::OfFilter(kind, bits, keys, probes);
          for (const int r : {0, 1, 2, 5, 7, 40}) {
            const auto bounds = FactorialMomentBounds(kind, bits, keys, probes, r);
            ASSERT_TRUE(bounds);
            const double moment = ones->FactorialMoment(r);
            EXPECT_LE(bounds->low, moment * (1.0 + 1e-12));
            EXPECT_GE(bounds->high, moment * (1.0 - 1e-12));
          }
        }
      }
    }
  }
  // At r = k those of Corollary 23, times m^(k).
  const auto moments = FactorialMomentBounds(BloomKind::kClassic, 240, 24, 7, 7);
  const auto rates = FalsePositiveRateBounds(BloomKind::kClassic, 240, 24, 7);
  double subsets = 1.0;
  for (int i = 0; i < 7; ++i) subsets *= 240.0 - i;
  EXPECT_NEAR(moments->low / subsets / rates->low, 1.0, 1e-12);
  EXPECT_NEAR(moments->high / subsets / rates->high, 1.0, 1e-12);
  EXPECT_FALSE(FactorialMomentBounds(BloomKind::kClassic, 5, 1, 6, 1));
  EXPECT_FALSE(FactorialMomentBounds(BloomKind::kClassic, 5, 1, 3, -1));
}

TEST(Bounds, HaveLimitsAndAnswerNonsenseWithNaN) {
  EXPECT_EQ(GoelGuptaBound(100, 0, 5), 0.0);
  EXPECT_EQ(GoelGuptaBound(1, 3, 5), 1.0);
  EXPECT_EQ(SecondOrderRate(100, 0, 5), 0.0);
  EXPECT_EQ(SecondOrderRate(1, 3, 5), 1.0);
  EXPECT_EQ(AzumaHoeffdingDeviation(100, 0, 5, 0.1), 0.0);
  EXPECT_TRUE(std::isnan(GoelGuptaBound(0, 1, 1)));
  EXPECT_TRUE(std::isnan(GoelGuptaBound(10, 1, kMaxAnalysisProbes + 1)));
  EXPECT_TRUE(std::isnan(SecondOrderRate(10, 1, 0)));
  EXPECT_TRUE(std::isnan(AzumaHoeffdingDeviation(10, 1, 3, 0.0)));
  EXPECT_TRUE(std::isnan(AzumaHoeffdingDeviation(10, 1, 3, 1.5)));
  EXPECT_TRUE(std::isnan(AzumaHoeffdingDeviation(0, 1, 3, 0.1)));
  EXPECT_TRUE(std::isnan(AzumaHoeffdingDeviation(10, 1, 0, 0.1)));
  // The steps are three draws, and ten bits, which are fewer than the draws.
  EXPECT_DOUBLE_EQ(AzumaHoeffdingDeviation(10, 1, 3, 1.0), std::sqrt(1.5 * std::log(2.0)));
  EXPECT_DOUBLE_EQ(AzumaHoeffdingDeviation(10, 10, 4, 0.5), std::sqrt(5.0 * std::log(4.0)));
  EXPECT_LT(GoelGuptaBound(100, 1, 3), 0.1);
  EXPECT_NEAR(AzumaHoeffdingDeviation(1'000'000, 100'000, 7, 1e-310), 15'813.0, 1.0);
}

// Whose factors overflow before one of them is zero.
TEST(FactorialMomentBounds, AreZeroOfMoreBitsThanThereAre) {
  const auto of_many = FactorialMomentBounds(BloomKind::kStandard, 1000, 32, 7, 255);
  EXPECT_EQ(of_many->low, 0.0);
  EXPECT_GT(of_many->high, 1e300);
  for (const std::uint64_t bits : {200, 240}) {
    const auto bounds = FactorialMomentBounds(BloomKind::kStandard, bits, 2000, 7, 255);
    EXPECT_EQ(bounds->low, 0.0);
    EXPECT_EQ(bounds->high, 0.0);
  }
}

}  // namespace
}  // namespace exactbloom
