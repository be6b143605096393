#include "exactbloom/theory/efficiency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr BloomKind kStandard = BloomKind::kStandard;
constexpr BloomKind kClassic = BloomKind::kClassic;
constexpr BloomKind kKinds[] = {kStandard, kClassic};

TEST(Efficiency, IsTheShareOfTheInformationBound) {
  EXPECT_NEAR(Efficiency(kClassic, 64, 4, 9), -4.0 * std::log2(4.550e-4) / 64.0, 1e-4);
  const double large = Efficiency(kStandard, 10'000'000, 1'000'000, 7);
  EXPECT_NEAR(large, -std::log2(0.0081937) / 10.0, 1e-6);
  EXPECT_LT(large, kLn2);
  EXPECT_TRUE(std::isnan(Efficiency(kClassic, 10, 0, 3)));
  EXPECT_TRUE(std::isnan(Efficiency(kClassic, 0, 1, 3)));
  EXPECT_TRUE(std::isnan(Efficiency(kClassic, 2, 1, 3)));
  EXPECT_EQ(Efficiency(kClassic, 3, 1, 3), 0.0);
  EXPECT_FALSE(std::signbit(Efficiency(kClassic, 3, 1, 3)));  // printed as 0, not as -0
}

// Theorem 26 and Corollary 27; Conjecture 28 with (75), which m = 3 refutes, and Corollary 30.
TEST(MaximumEfficiency, IsTheBestOfAllSmallFilters) {
  for (std::uint64_t bits = 2; bits <= 20; ++bits) {
    for (const BloomKind kind : kKinds) {
      double best = 0.0;
      for (std::uint64_t n = 1; n <= 3 * bits; ++n) {
        for (int k = 1; k <= static_cast<int>(bits); ++k) {
          best = std::max(best, Efficiency(kind, bits, n, k));
        }
      }
      const EfficiencyPeak peak = *MaximumEfficiency(kind, bits);
      EXPECT_NEAR(peak.efficiency, best, 1e-11) << bits;
      EXPECT_NEAR(Efficiency(kind, bits, peak.keys, static_cast<int>(peak.probes)), best, 1e-11);
      const bool one_key = kind == kClassic && bits != 3;
      EXPECT_EQ(peak.keys, one_key ? 1 : peak.keys) << bits;
      EXPECT_EQ(peak.probes, one_key ? bits / 2 : 1) << bits;
    }
  }
  EXPECT_NEAR(Efficiency(kClassic, 3, 2, 1), 0.565, 5e-4);
  EXPECT_NEAR(Efficiency(kClassic, 3, 1, 1), 0.528, 5e-4);
}

// The paper prints those of Corollary 27 only.
TEST(MaximumEfficiency, HasTheLimitsOfThePaper) {
  const auto expect = [](BloomKind kind, std::uint64_t bits, std::uint64_t keys,
                         std::uint64_t probes, double efficiency) {
    const EfficiencyPeak peak = *MaximumEfficiency(kind, bits);
    EXPECT_EQ(peak.keys, keys);
    EXPECT_EQ(peak.probes, probes);
    EXPECT_NEAR(peak.efficiency, efficiency, 5e-7);
  };
  expect(kStandard, 64, 44, 1, 0.687718);
  expect(kClassic, 64, 1, 32, 0.947947);
  EXPECT_NEAR(MaximumEfficiency(kStandard, 1024)->efficiency, 0.692809, 5e-7);
  expect(kClassic, 1024, 1, 512, 0.994799);
  // Corollary 27: k = 1, rate 1/2, ln 2.
  const EfficiencyPeak large = *MaximumEfficiency(kStandard, 1'000'000);
  EXPECT_EQ(large.probes, 1U);
  EXPECT_NEAR(FalsePositiveRate(kStandard, 1'000'000, large.keys, 1), 0.5, 5e-7);
  EXPECT_NEAR(large.efficiency, kLn2, 5e-7);
  EXPECT_NEAR(MaximumEfficiency(kStandard, 1'000'000'000)->efficiency, kLn2, 1e-8);
  // Corollary 30: towards one.
  const auto classic = [](std::uint64_t bits) {
    return MaximumEfficiency(kClassic, bits)->efficiency;
  };
  EXPECT_NEAR(classic(4), 0.646, 5e-4);
  EXPECT_NEAR(classic(16), 0.853, 5e-4);
  EXPECT_NEAR(classic(64), 0.948, 5e-4);
  EXPECT_NEAR(classic(128), 0.970, 5e-4);
  EXPECT_GT(classic(1'000'000), 0.99998);
  EXPECT_FALSE(MaximumEfficiency(kClassic, 1));
  EXPECT_FALSE(MaximumEfficiency(kStandard, 0));
}

// A standard filter's peaks fall away from ln 2, all of them below it. A classic filter's rise with
// k as Conjecture 28 says, but for steps between whole numbers of keys.
TEST(PeakEfficiency, FallsOrRisesWithTheProbes) {
  const auto standard = [](int k) { return PeakEfficiency(kStandard, 64, k)->efficiency; };
  EXPECT_NEAR(standard(1), 0.6877, 5e-5);
  EXPECT_NEAR(standard(2), 0.6854, 5e-5);
  EXPECT_NEAR(standard(3), 0.6829, 5e-5);
  for (int k = 1; k <= 32; ++k) EXPECT_LT(standard(k), kLn2);

  const auto classic = [](int k) { return PeakEfficiency(kClassic, 64, k)->efficiency; };
  EXPECT_NEAR(classic(1), 0.6877177, 5e-8);
  EXPECT_NEAR(classic(2), 0.6877170, 5e-8);
  EXPECT_NEAR(classic(9), 0.693863, 5e-7);
  EXPECT_NEAR(classic(10), 0.693724, 5e-7);
  EXPECT_EQ(PeakEfficiency(kClassic, 64, 32)->keys, 1U);
  EXPECT_NEAR(classic(32), MaximumEfficiency(kClassic, 64)->efficiency, 1e-12);
  for (const BloomKind kind : kKinds) {
    for (const int k : {1, 3, 8}) {
      double best = 0.0;
      for (std::uint64_t n = 1; n <= 200; ++n) best = std::max(best, Efficiency(kind, 64, n, k));
      EXPECT_EQ(PeakEfficiency(kind, 64, k)->efficiency, best);
    }
  }
  EXPECT_FALSE(PeakEfficiency(kClassic, 64, 64));
  EXPECT_FALSE(PeakEfficiency(kClassic, 64, 0));
}

// Theorem 26 is about a real n; and for a fixed k fewer keys cost more than as many more.
TEST(PeakEfficiency, OfWholeKeysRisesSomewhere) {
  std::vector<int> rises;
  const auto peak = [](int k) { return PeakEfficiency(kStandard, 64, k)->efficiency; };
  for (int k = 2; k <= 34; ++k) {
    if (peak(k) > peak(k - 1)) rises.push_back(k);
  }
  EXPECT_EQ(rises, (std::vector<int>{18, 19, 29, 30, 31, 32, 33, 34}));
  const auto at = [](std::uint64_t keys) { return Efficiency(kStandard, 10'000, keys, 7); };
  const std::uint64_t best = PeakEfficiency(kStandard, 10'000, 7)->keys;
  EXPECT_EQ(best, 990U);
  for (const std::uint64_t d : {10, 50, 100, 200, 500}) EXPECT_LT(at(best - d), at(best + d));
  // At m = 64 the peak of 33 probes lies below one key.
  EXPECT_GT(EfficientKeys(64, 31), 1.0);
  EXPECT_LT(EfficientKeys(64, 33), 1.0);
}

TEST(EfficientKeysAndProbes, FillHalfOfTheBits) {
  EXPECT_NEAR(std::pow(1.0 - 7.0 / 1000.0, EfficientKeys(1000, 7)), 0.5, 1e-12);
  EXPECT_NEAR(std::pow(1.0 - EfficientProbes(1000, 99) / 1000.0, 99.0), 0.5, 1e-12);
  EXPECT_EQ(EfficientProbes(64, 1), 32.0);
  // ln 2 / ln(3e15), in 60 digits.
  EXPECT_NEAR(EfficientKeys(3'000'000'000'000'000, 2'999'999'999'999'999), 0.0194499991768290737,
              1e-16);
  EXPECT_TRUE(std::isnan(EfficientKeys(10, 10)));
  EXPECT_TRUE(std::isnan(EfficientKeys(0, 1)));
  EXPECT_TRUE(std::isnan(EfficientProbes(10, 0)));
}

TEST(Valleys, AreWhereTheOptimalProbesChange) {
  EXPECT_EQ(ExactValley(kStandard, 256, 1), 123U);
  EXPECT_EQ(ExactValley(kStandard, 256, 2), 72U);
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {64, 512, 10'000}) {
      for (const int k : {1, 2, 5, 9}) {
        const std::uint64_t keys = *ExactValley(kind, bits, k);
        EXPECT_LE(OptimalProbes(kind, bits, keys), k);
        EXPECT_GT(OptimalProbes(kind, bits, keys - 1), k);
      }
    }
  }
}

// The rates of one key and k or k + 1 of 2k + 1 bits are the same.
TEST(Valleys, OfOneKeyAreExact) {
  for (int k = 1; k < kMaxAnalysisProbes; ++k) {
    EXPECT_EQ(ExactValley(kClassic, 2 * static_cast<std::uint64_t>(k) + 1, k), 1U) << k;
  }
}

// Of nearly as many probes as bits, where few keys are at the valley; by mpmath with 40 digits.
TEST(Valleys, OfNearlyAllBitsKeepTheirDigits) {
  EXPECT_NEAR(ApproximateValley(5, 3) / 0.150128798391109, 1.0, 1e-11);
  EXPECT_NEAR(ApproximateValley(20, 15) / 0.0805946746341772, 1.0, 1e-11);
  EXPECT_NEAR(ApproximateValley(100, 90) / 0.00775408654379508, 1.0, 1e-11);
  EXPECT_NEAR(ApproximateValley(400, 254) / 0.242305354333182, 1.0, 1e-11);
  EXPECT_NEAR(ApproximateValley(257, 254) / 4.96018311693953e-11, 1.0, 1e-11);
}

TEST(Efficiency, OfAFilterThatLetsAllPassIsZero) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {8, 49, 100, 1000}) {
      for (const std::uint64_t keys : {std::uint64_t{1'000'000'000'000}, std::uint64_t{1} << 53}) {
        EXPECT_LE(Efficiency(kind, bits, keys, 7), 1e-11) << bits << " " << keys;
      }
    }
  }
}

TEST(Valleys, AreNearTheApproximation) {
  // Between one and two probes e^(-n/m) is the golden ratio's inverse.
  const double golden = std::log((1.0 + std::sqrt(5.0)) / 2.0);
  EXPECT_NEAR(ApproximateValley(1'000'000'000, 1) / 1e9, golden, 1e-8);
  for (const BloomKind kind : kKinds) {
    for (const int k : {1, 4, 8}) {
      EXPECT_NEAR(
          static_cast<double>(*ExactValley(kind, 1'000'000, k)) / ApproximateValley(1'000'000, k),
          1.0, 1e-3);
    }
  }
  EXPECT_TRUE(std::isnan(ApproximateValley(10, 9)));
  EXPECT_TRUE(std::isnan(ApproximateValley(10, 0)));
  EXPECT_FALSE(ExactValley(kClassic, 0, 1));
}

TEST(CodeLengths, EqualTheLogarithmOfTheBinomialCoefficient) {
  EXPECT_NEAR(LosslessCodeBits(64, 32), 60.6686, 5e-5);
  for (const std::uint64_t bits : {1, 2, 7, 64, 1000, 2000, 5000, 1'000'000'000}) {
    for (const std::uint64_t ones :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1000},
          std::uint64_t{1001}, std::min<std::uint64_t>(bits / 2, 2500)}) {
      if (ones > bits) continue;
      const double truth = oracle::Log2(oracle::Binomial(bits, ones));
      EXPECT_NEAR(LosslessCodeBits(bits, ones), truth, 1e-13 * truth) << bits << " " << ones;
      EXPECT_EQ(LosslessCodeBits(bits, bits - ones), LosslessCodeBits(bits, ones));
      EXPECT_GE(EntropyBits(bits, ones), truth * (1.0 - 1e-14));
    }
  }
  EXPECT_EQ(EntropyBits(1000, 500), 1000.0);
  EXPECT_EQ(EntropyBits(1000, 0), 0.0);
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 53;
  EXPECT_EQ(EntropyBits(kLargest, 0), 0.0);
  EXPECT_EQ(EntropyBits(kLargest, kLargest / 2), static_cast<double>(kLargest));
  EXPECT_TRUE(std::isnan(EntropyBits(kLargest + 1, 0)));
  EXPECT_TRUE(std::isnan(EntropyBits(10, 11)));
  EXPECT_TRUE(std::isnan(LosslessCodeBits(0, 0)));
}

}  // namespace
}  // namespace exactbloom
