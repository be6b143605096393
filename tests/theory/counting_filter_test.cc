#include "exactbloom/theory/counting_filter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle.h"

namespace exactbloom {
namespace {

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
      for (const int counter_bits : {1, 2, 4, 6}) {
        const std::uint64_t least = std::uint64_t{1} << counter_bits;
        SCOPED_TRACE(testing::Message() << bits << " " << keys << " " << counter_bits);
        const auto expect = [&](FilterKind kind, std::uint64_t trials, int hits) {
          const double overflow = CounterOverflowProbability(kind, bits, keys, 3, counter_bits);
          if (trials < least) {
            EXPECT_EQ(overflow, 0.0);
            return;
          }
          const oracle::Real p = oracle::Real(hits) / oracle::Real(bits);
          EXPECT_LE(oracle::RelativeError(overflow, OracleTail(trials, p, least)), 1e-11);
        };
        expect(FilterKind::kStandard, keys * 3, 1);
        expect(FilterKind::kClassic, keys, 3);
      }
    }
  }
}

TEST(CounterOverflow, StaysBelowTheSummaryCacheBound) {
  const std::uint64_t bits = 100'000'000;
  const auto keys = static_cast<std::uint64_t>(std::log(2.0) * 1e8 / 7.0);
  const double any = 1e8 * CounterOverflowProbability(FilterKind::kStandard, bits, keys, 7, 4);
  const double bound = SummaryCacheOverflowBound(bits, keys, 7, 4);
  EXPECT_LT(any, bound);
  EXPECT_GT(any, 0.0);
  EXPECT_NEAR(bound / 1e8 / 1.37e-15, 1.0, 0.005);  // the figure of the paper
}

TEST(CounterOverflow, HasLimitsAndAnswersNonsenseWithNaN) {
  EXPECT_EQ(CounterOverflowProbability(FilterKind::kStandard, 100, 0, 3, 4), 0.0);
  EXPECT_EQ(CounterOverflowProbability(FilterKind::kStandard, 1, 10, 3, 4), 1.0);
  EXPECT_EQ(SummaryCacheOverflowBound(100, 0, 3, 4), 0.0);
  EXPECT_TRUE(std::isnan(CounterOverflowProbability(FilterKind::kStandard, 0, 1, 3, 4)));
  EXPECT_TRUE(std::isnan(CounterOverflowProbability(FilterKind::kStandard, 10, 1, 3, 0)));
  EXPECT_TRUE(std::isnan(CounterOverflowProbability(FilterKind::kClassic, 2, 1, 3, 4)));
  EXPECT_TRUE(std::isnan(SummaryCacheOverflowBound(10, 1, 3, kMaxCounterBits + 1)));
}

}  // namespace
}  // namespace exactbloom
