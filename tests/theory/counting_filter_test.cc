#include "exactbloom/theory/counting_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "oracle.h"

namespace exactbloom {
namespace {

constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};

// P(at least `least` of `trials`), from the other side of the distribution.
oracle::Real OracleTail(std::uint64_t trials, const oracle::Real& p, std::uint64_t least) {
  oracle::Real below = 0;
  for (std::uint64_t j = 0; j < least && j <= trials; ++j) {
    below += oracle::Binomial(trials, j) * oracle::Power(p, j) *
             oracle::Power(oracle::Real(1) - p, trials - j);
  }
  return oracle::Real(1) - below;
}

TEST(CounterOverflow, EqualsTheOracle) {
  for (const std::uint64_t bits : {8, 1000, 1'000'000'000}) {
    for (const std::uint64_t keys : {bits / 8, bits / 2, 5 * bits}) {
      for (const int counter_bits : {1, 2, 3, 4, 6}) {
        const std::uint64_t least = std::uint64_t{1} << counter_bits;
        SCOPED_TRACE(testing::Message() << bits << " " << keys << " " << counter_bits);
        const auto expect = [&](BloomKind kind, std::uint64_t trials, int hits) {
          const double overflow = CounterOverflowProbability(kind, bits, keys, 3, counter_bits);
          const OverflowBounds bounds = *CounterOverflowBounds(kind, bits, keys, 3, counter_bits);
          if (trials < least) {
            EXPECT_EQ(overflow, 0.0);
            EXPECT_EQ(bounds.binomial, 0.0);
            return;
          }
          const oracle::Real p = oracle::Real(hits) / oracle::Real(bits);
          EXPECT_LE(oracle::RelativeError(overflow, OracleTail(trials, p, least)), 1e-11);
          const oracle::Real binomial =
              oracle::Real(bits) * oracle::Binomial(trials, least) * oracle::Power(p, least);
          EXPECT_LE(oracle::RelativeError(bounds.binomial, binomial), 1e-11);
          EXPECT_NEAR(bounds.expected, static_cast<double>(bits) * overflow,
                      1e-14 * bounds.expected);
          EXPECT_LE(bounds.expected, bounds.binomial * (1.0 + 1e-11));
          EXPECT_LE(bounds.binomial, bounds.exponential);
        };
        expect(BloomKind::kStandard, keys * 3, 1);
        expect(BloomKind::kClassic, keys, 3);
      }
    }
  }
}

// Ten bits a key and seven probes; nearly full with few hits, so that the kinds hardly differ.
TEST(CounterOverflow, OfAMillionKeysIsRareWithFourBits) {
  const auto overflow = [](BloomKind kind, int counter_bits) {
    return CounterOverflowProbability(kind, 10'000'000, 1'000'000, 7, counter_bits);
  };
  EXPECT_NEAR(overflow(BloomKind::kStandard, 4) / 8.22533e-17, 1.0, 1e-6);
  EXPECT_NEAR(overflow(BloomKind::kClassic, 4) / 8.22456e-17, 1.0, 1e-6);
  for (const BloomKind kind : kKinds) EXPECT_NEAR(overflow(kind, 3) / 7.69345e-7, 1.0, 1e-4);
}

// Fan et al. print 1.37e-15 m for four bits at n k = m ln 2.
TEST(CounterOverflow, StaysBelowTheSummaryCacheBound) {
  const std::uint64_t bits = 100'000'000;
  const auto keys = static_cast<std::uint64_t>(std::log(2.0) * 1e8 / 7.0);
  for (const BloomKind kind : kKinds) {
    const OverflowBounds bounds = *CounterOverflowBounds(kind, bits, keys, 7, 4);
    EXPECT_GT(bounds.expected, 0.0);
    EXPECT_LT(bounds.expected, bounds.binomial);
    EXPECT_LT(bounds.binomial, bounds.exponential);
    EXPECT_NEAR(bounds.exponential / 1e8 / 1.368e-15, 1.0, 5e-4);
    EXPECT_NEAR(bounds.exponential / 1e8 / 1.37e-15, 1.0, 0.005);
  }
}

TEST(CounterOverflow, HasLimitsAndAnswersNonsenseWithNaN) {
  EXPECT_EQ(CounterOverflowProbability(BloomKind::kStandard, 100, 0, 3, 4), 0.0);
  EXPECT_EQ(CounterOverflowProbability(BloomKind::kStandard, 1, 10, 3, 4), 1.0);
  EXPECT_EQ(CounterOverflowProbability(BloomKind::kStandard, 2, 1'000'000'000'000, 3, 16), 1.0);
  EXPECT_EQ(CounterOverflowBounds(BloomKind::kStandard, 100, 0, 3, 4)->exponential, 0.0);
  EXPECT_TRUE(std::isnan(CounterOverflowProbability(BloomKind::kStandard, 0, 1, 3, 4)));
  EXPECT_TRUE(std::isnan(CounterOverflowProbability(BloomKind::kStandard, 10, 1, 3, 0)));
  EXPECT_TRUE(std::isnan(CounterOverflowProbability(BloomKind::kClassic, 2, 1, 3, 4)));
  EXPECT_FALSE(CounterOverflowBounds(BloomKind::kStandard, 10, 1, 3, kMaxCounterBits + 1));
}

// The mean of the largest counter over many filters; the seed is fixed.
TEST(LargestCounter, IsAsExpectedInSimulations) {
  std::mt19937_64 random(1998);
  for (const auto& [bits, keys, trials] : {std::tuple{1000, 100, 4000}, {10'000, 990, 400}}) {
    double sum = 0.0;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<int> counters(static_cast<std::size_t>(bits));
      for (int ball = 0; ball < 7 * keys; ++ball) {
        ++counters[random() % static_cast<std::uint64_t>(bits)];
      }
      sum += *std::max_element(counters.begin(), counters.end());
    }
    const double expected =
        ExpectedLargestCounter(BloomKind::kStandard, static_cast<std::uint64_t>(bits),
                               static_cast<std::uint64_t>(keys), 7);
    EXPECT_NEAR(sum / trials, expected, 0.04) << bits;
  }
}

TEST(LargestCounter, IsNearTheFormulaByGamma) {
  EXPECT_EQ(ExpectedLargestCounter(BloomKind::kStandard, 1, 5, 3), 15.0);
  EXPECT_EQ(ExpectedLargestCounter(BloomKind::kStandard, 100, 0, 3), 0.0);
  const double exact = ExpectedLargestCounter(BloomKind::kStandard, 10'000'000, 990'210, 7);
  const double formula = LargestCounterByGamma(10'000'000, 990'210, 7);
  EXPECT_NEAR(exact, 8.4597, 0.005);
  EXPECT_NEAR(formula, 9.7081, 0.005);
  // Gamma(11) = 10! with one draw for each counter.
  EXPECT_NEAR(LargestCounterByGamma(3'628'800, 3'628'800, 1), 11.0, 1e-10);
  EXPECT_TRUE(std::isnan(LargestCounterByGamma(1, 1, 1)));
  EXPECT_TRUE(std::isnan(LargestCounterByGamma(1, 5, 1)));
  EXPECT_TRUE(std::isnan(LargestCounterByGamma(5, 0, 1)));
  EXPECT_FALSE(std::isnan(LargestCounterByGamma(2, 1, 1)));
  EXPECT_TRUE(std::isnan(ExpectedLargestCounter(BloomKind::kStandard, 10, 10'000, 7)));
}

}  // namespace
}  // namespace exactbloom
