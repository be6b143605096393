// What papers and lectures say of single filters. Where a document has a misprint or an error, its
// number stands beside the right one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"

namespace exactbloom {
namespace {

constexpr BloomKind kStandard = BloomKind::kStandard;
constexpr BloomKind kClassic = BloomKind::kClassic;
constexpr BloomKind kKinds[] = {kStandard, kClassic};

// A filter of so many keys has the rates of the limit to seven digits.
constexpr std::uint64_t kManyKeys = 50'000'000;

double LimitRate(std::uint64_t bits_per_key, int probes) {
  return FalsePositiveRate(kStandard, bits_per_key * kManyKeys, kManyKeys, probes);
}

double BitsPerKey(double rate) {
  return static_cast<double>(SmallestFilter(kClassic, 1'000'000, rate)->bits) / 1e6;
}

// Section 5. The paper prints the losses; the geometry, of which the usual k is 142, is the one
// that has them.
TEST(Burns, UsualProbesOfTheExampleDoubleTheRate) {
  constexpr std::uint64_t kBits = 1024;
  constexpr std::uint64_t kKeys = 5;
  constexpr int kUsual = 142;
  EXPECT_EQ(std::lround(kLn2 * kBits / kKeys), kUsual);
  const auto expect = [](BloomKind kind, int best, double rate_loss, double efficiency_loss) {
    EXPECT_EQ(OptimalProbes(kind, kBits, kKeys, kMaxAnalysisProbes), best);
    const double usual = Log2FalsePositiveRate(kind, kBits, kKeys, kUsual);
    const double least = Log2FalsePositiveRate(kind, kBits, kKeys, best);
    EXPECT_NEAR(std::exp2(usual - least) - 1.0, rate_loss, 5e-6);
    EXPECT_NEAR(1.0 - usual / least, efficiency_loss, 5e-6);
  };
  expect(kStandard, 133, 0.15712, 0.00153);
  expect(kClassic, 124, 1.06864, 0.00733);
}

// Section 3.4: with 64 bits and 4 keys the usual k is 11. The rates are ours.
TEST(Burns, ProbesOfASmallFilterAreFewer) {
  EXPECT_EQ(OptimalProbes(kStandard, 64, 4), 10);
  EXPECT_EQ(OptimalProbes(kClassic, 64, 4), 9);
  EXPECT_NEAR(FalsePositiveRate(kStandard, 64, 4, 11), 6.2478e-4, 5e-9);
  EXPECT_NEAR(FalsePositiveRate(kStandard, 64, 4, 10), 6.1541e-4, 5e-9);
  EXPECT_NEAR(FalsePositiveRate(kClassic, 64, 4, 11), 4.8510e-4, 5e-9);
  EXPECT_NEAR(FalsePositiveRate(kClassic, 64, 4, 9), 4.5501e-4, 5e-9);
}

// Conjecture 24 says: classic k* <= standard k* <= ceil((m/n) ln 2). The first part is false.
TEST(Burns, Conjecture24HasACounterexample) {
  EXPECT_EQ(OptimalProbes(kClassic, 26, 12), 2);
  EXPECT_EQ(OptimalProbes(kStandard, 26, 12), 1);
  EXPECT_NEAR(FalsePositiveRate(kClassic, 26, 12, 2), 0.375311, 5e-7);
  for (const BloomKind kind : kKinds) {  // they are the same
    EXPECT_NEAR(FalsePositiveRate(kind, 26, 12, 1), 0.375403, 5e-7);
  }
  EXPECT_NEAR(FalsePositiveRate(kStandard, 26, 12, 2), 0.375586, 5e-7);
}

TEST(BurnsExhaustive, Conjecture24FailsSevenTimesUpTo300Bits) {
  int geometries = 0;
  int failures = 0;
  for (std::uint64_t bits = 1; bits <= 300; ++bits) {
    for (std::uint64_t keys = 1; keys <= bits; ++keys) {
      const double usual = kLn2 * static_cast<double>(bits) / static_cast<double>(keys);
      if (usual > kMaxProbes) continue;
      ++geometries;
      const int standard = OptimalProbes(kStandard, bits, keys);
      EXPECT_LE(standard, std::ceil(usual)) << bits << " " << keys;
      failures += OptimalProbes(kClassic, bits, keys) > standard ? 1 : 0;
    }
  }
  EXPECT_EQ(geometries, 44'860);
  EXPECT_EQ(failures, 7);
}

// Distinct bits have the lower rate at each kind's best k, but not at any k: not beyond a fill of
// some .63.
TEST(Burns, ClassicIsBetterAtTheBestProbesOnly) {
  for (std::uint64_t bits = 8; bits <= 300; bits += 4) {
    for (std::uint64_t keys = 1; keys <= bits; keys += 1 + keys / 4) {
      EXPECT_LE(Log2FalsePositiveRate(kClassic, bits, keys, OptimalProbes(kClassic, bits, keys)),
                Log2FalsePositiveRate(kStandard, bits, keys, OptimalProbes(kStandard, bits, keys)) +
                    1e-11)
          << bits << " " << keys;
    }
  }
  EXPECT_NEAR(FalsePositiveRate(kClassic, 240, 24, 10), 0.010809, 5e-7);
  EXPECT_NEAR(FalsePositiveRate(kStandard, 240, 24, 10), 0.010786, 5e-7);
}

// Summary Cache prints .00819, .0216, .000459 and 2.1e-7, and for 30 bits and 15 probes, by
// misprint, 8.39e-6.
TEST(SummaryCache, RatesOfItsTables) {
  EXPECT_NEAR(LimitRate(10, 7), 0.0081937, 5e-8);
  EXPECT_NEAR(LimitRate(8, 6), 0.021577, 5e-7);
  EXPECT_NEAR(LimitRate(16, 11), 0.00045871, 5e-9);
  EXPECT_NEAR(LimitRate(32, 22), 2.1042e-7, 5e-12);
  EXPECT_NEAR(LimitRate(30, 15), 8.388e-7, 5e-11);
}

// It calls 5 probes the optimum of ten bits, at .9%, after 1.2% for 4.
TEST(SummaryCache, OptimumOfTenBitsIsSevenProbes) {
  EXPECT_NEAR(LimitRate(10, 4), 0.011813, 5e-7);
  EXPECT_NEAR(LimitRate(10, 5), 0.00943, 5e-6);
  EXPECT_NEAR(LimitRate(10, 7), 0.008194, 5e-7);
  for (const BloomKind kind : kKinds) {
    EXPECT_EQ(OptimalProbes(kind, 10 * kManyKeys, kManyKeys), 7);
  }
}

// 9.6 bits for 1%, 4.8 more for a tenth of the rate, 1.44 times log2(1/p), and .6185^(m/n).
TEST(Encyclopedia, SizesOfTheRulesOfThumb) {
  EXPECT_NEAR(BitsPerKey(0.01), 9.5930, 5e-4);
  EXPECT_NEAR(BitsPerKey(0.001) - BitsPerKey(0.01), 4.785, 5e-4);
  EXPECT_NEAR(BitsPerKey(0.01) / std::log2(100.0), 1.4439, 1e-4);
  EXPECT_NEAR(std::pow(0.6185, 10.0), LimitRate(10, 7), 1e-5);
}

// Bloom's Table I, as the lecture slides print it: a dictionary of 500,000 words, of which 50,000
// need the disk. The last area, 509,800, is a misprint.
TEST(Lecture, HashAreasOfBloomsTable) {
  const double printed[] = {72'800, 145'600, 218'400, 291'200, 364'000, 509'800};
  const std::uint64_t exact[] = {72'136, 144'271, 216'405, 288'540, 360'675, 432'810};
  const double saved[] = {45.00, 67.50, 78.75, 84.38, 87.19, 88.59};
  for (int i = 0; i < 6; ++i) {
    const double rate = std::exp2(-(i + 1));
    EXPECT_NEAR(static_cast<double>(SmallestFilter(kStandard, 50'000, rate)->bits),
                static_cast<double>(exact[i]), 1.0);
    EXPECT_EQ(std::abs(printed[i] / static_cast<double>(exact[i]) - 1.0) < 0.01, i < 5);
    EXPECT_NEAR(90.0 * (1.0 - rate), saved[i], 0.005);
  }
}

// Its filter of ten bits, half of them ones: a key of three bits passes with 1/8, or 1/12 if the
// bits are distinct.
TEST(Lecture, RateOfTheTenBitExample) {
  EXPECT_DOUBLE_EQ(FalsePositiveRateGivenFill(kStandard, 10, 5, 3), 0.125);
  EXPECT_DOUBLE_EQ(FalsePositiveRateGivenFill(kClassic, 10, 5, 3), 1.0 / 12.0);
}

// n hashes of log2(n/p) bits are more than a Bloom filter's n log2(1/p) / ln 2 from (1/p)^(1/ln 2 -
// 1) keys on.
TEST(Introduction, HashSetLosesFromEightKeysOn) {
  const auto hash_set = [](double keys) { return keys * std::log2(keys / 0.01); };
  const auto bloom = [](double keys) { return keys * std::log2(100.0) / kLn2; };
  EXPECT_NEAR(std::pow(100.0, 1.0 / kLn2 - 1.0), 7.68, 5e-3);
  EXPECT_LT(hash_set(7.0), bloom(7.0));
  EXPECT_GT(hash_set(8.0), bloom(8.0));
}

// The introduction's last comment has k = ln(1/p), 5 at 1%; it is log2(1/p), 7.
TEST(Introduction, ProbesAreTheBinaryLogarithmOfTheRate) {
  const std::uint64_t bits = 9585;
  const std::uint64_t keys = 1000;
  EXPECT_NEAR(AsymptoticFalsePositiveRate(bits, keys, 7), 0.01004, 5e-6);
  EXPECT_NEAR(AsymptoticFalsePositiveRate(bits, keys, 5), 0.01109, 5e-6);
  EXPECT_EQ(OptimalProbes(kStandard, bits * 1000, keys * 1000), std::lround(std::log2(100.0)));
}

}  // namespace
}  // namespace exactbloom
