#include "exactbloom/theory/efficiency.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

TEST(Efficiency, IsTheShareOfTheInformationBound) {
  EXPECT_NEAR(Efficiency(FilterKind::kClassic, 64, 4, 9), -4.0 * std::log2(4.550e-4) / 64.0, 1e-4);
  const double large = Efficiency(FilterKind::kStandard, 10'000'000, 1'000'000, 7);
  EXPECT_NEAR(large, -std::log2(0.0081937) / 10.0, 1e-6);
  EXPECT_LT(large, kLn2);
  EXPECT_TRUE(std::isnan(Efficiency(FilterKind::kClassic, 10, 0, 3)));
  EXPECT_TRUE(std::isnan(Efficiency(FilterKind::kClassic, 0, 1, 3)));
  EXPECT_TRUE(std::isnan(Efficiency(FilterKind::kClassic, 2, 1, 3)));
}

TEST(MaximumEfficiency, IsTheBestOfAllSmallFilters) {
  for (std::uint64_t bits = 2; bits <= 16; ++bits) {
    for (const FilterKind kind : kKinds) {
      double best = 0.0;
      for (std::uint64_t n = 1; n <= 3 * bits; ++n) {
        for (int k = 1; k <= static_cast<int>(bits); ++k) {
          best = std::max(best, Efficiency(kind, bits, n, k));
        }
      }
      const EfficiencyPeak peak = MaximumEfficiency(kind, bits);
      EXPECT_NEAR(peak.efficiency, best, 1e-11) << bits;
      EXPECT_NEAR(Efficiency(kind, bits, peak.keys, static_cast<int>(peak.probes)), best, 1e-11);
    }
  }
}

TEST(MaximumEfficiency, HasTheLimitsOfThePaper) {
  EXPECT_NEAR(MaximumEfficiency(FilterKind::kStandard, 1'000'000'000).efficiency, kLn2, 1e-8);
  EXPECT_GT(MaximumEfficiency(FilterKind::kClassic, 1'000'000).efficiency, 0.99998);
  EXPECT_TRUE(std::isnan(MaximumEfficiency(FilterKind::kClassic, 1).efficiency));
  EXPECT_TRUE(std::isnan(MaximumEfficiency(FilterKind::kStandard, 0).efficiency));
}

TEST(EfficientKeysAndProbes, FillHalfOfTheBits) {
  EXPECT_NEAR(std::pow(1.0 - 7.0 / 1000.0, EfficientKeys(1000, 7)), 0.5, 1e-12);
  EXPECT_NEAR(std::pow(1.0 - EfficientProbes(1000, 99) / 1000.0, 99.0), 0.5, 1e-12);
  EXPECT_TRUE(std::isnan(EfficientKeys(10, 10)));
  EXPECT_TRUE(std::isnan(EfficientKeys(0, 1)));
  EXPECT_TRUE(std::isnan(EfficientProbes(10, 0)));
}

TEST(Valleys, AreWhereTheOptimalProbesChange) {
  for (const FilterKind kind : kKinds) {
    for (const std::uint64_t bits : {64, 512, 10'000}) {
      for (const int k : {1, 2, 5, 9}) {
        const std::uint64_t keys = ExactValley(kind, bits, k);
        EXPECT_LE(OptimalProbes(kind, bits, keys), k);
        EXPECT_GT(OptimalProbes(kind, bits, keys - 1), k);
      }
    }
  }
}

TEST(Valleys, AreNearTheApproximation) {
  // Between one and two probes e^(-n/m) is the golden ratio's inverse.
  const double golden = std::log((1.0 + std::sqrt(5.0)) / 2.0);
  EXPECT_NEAR(ApproximateValley(1'000'000'000, 1) / 1e9, golden, 1e-8);
  for (const FilterKind kind : kKinds) {
    for (const int k : {1, 4, 8}) {
      EXPECT_NEAR(
          static_cast<double>(ExactValley(kind, 1'000'000, k)) / ApproximateValley(1'000'000, k),
          1.0, 1e-3);
    }
  }
  EXPECT_TRUE(std::isnan(ApproximateValley(10, 9)));
  EXPECT_TRUE(std::isnan(ApproximateValley(10, 0)));
  EXPECT_EQ(ExactValley(FilterKind::kClassic, 0, 1), 0U);
}

TEST(CodeLengths, EqualTheLogarithmOfTheBinomialCoefficient) {
  for (const std::uint64_t bits : {1, 2, 7, 64, 1000, 1'000'000'000}) {
    for (const std::uint64_t ones :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, bits / 2}) {
      if (ones > bits || ones > 1000) continue;
      const double truth = oracle::Log2(oracle::Binomial(bits, ones));
      EXPECT_NEAR(LosslessCodeBits(bits, ones), truth, 1e-9 * std::max(1.0, truth));
      EXPECT_NEAR(LosslessCodeBits(bits, bits - ones), truth, 1e-6 * std::max(1.0, truth));
      EXPECT_GE(EntropyBits(bits, ones), truth - 1e-9);
    }
  }
  EXPECT_EQ(EntropyBits(1000, 500), 1000.0);
  EXPECT_EQ(EntropyBits(1000, 0), 0.0);
  EXPECT_TRUE(std::isnan(EntropyBits(10, 11)));
  EXPECT_TRUE(std::isnan(LosslessCodeBits(0, 0)));
}

}  // namespace
}  // namespace exactbloom
