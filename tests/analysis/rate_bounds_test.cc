#include "exactbloom/rate_bounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};
constexpr double kRounding = 1e-12;

TEST(RateBounds, EncloseTheExactRate) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {1, 2, 3, 5, 8, 13, 64, 200, 512, 4096, 1'000'000}) {
      for (int probes = 1; probes <= 40; probes += 1 + probes / 8) {
        if (kind == BloomKind::kClassic && static_cast<std::uint64_t>(probes) > bits) continue;
        for (std::uint64_t keys = 1; keys <= 4 * bits; keys += 1 + keys / 2) {
          const double rate = FalsePositiveRate(kind, bits, keys, probes);
          const Interval bounds = *FalsePositiveRateBounds(kind, bits, keys, probes);
          SCOPED_TRACE(testing::Message()
                       << static_cast<int>(kind) << " " << bits << " " << keys << " " << probes);
          EXPECT_LE(bounds.low, rate * (1.0 + kRounding) + 1e-300);
          EXPECT_GE(bounds.high, rate * (1.0 - kRounding));
        }
      }
    }
  }
}

TEST(RateBounds, EqualTheirFormulasInManyDigits) {
  const std::uint64_t m = 1000;
  const std::uint64_t n = 90;
  const std::uint64_t k = 7;
  const oracle::Real one = 1;
  const oracle::Real independent =
      oracle::Power(one - oracle::Power(one - one / oracle::Real(m), n * k), k);
  const oracle::Real fill = one - oracle::Power(one - oracle::Real(k) / oracle::Real(m), n);
  oracle::Real classic = 1;
  for (std::uint64_t i = 0; i < k; ++i) classic *= (fill * m - i) / oracle::Real(m - i);
  EXPECT_LE(oracle::RelativeError(FalsePositiveRateBounds(BloomKind::kStandard, m, n, 7)->low,
                                  independent),
            kRounding);
  EXPECT_LE(oracle::RelativeError(BloomRate(m, n, 7), oracle::Power(fill, k)), kRounding);
  const Interval bounds = *FalsePositiveRateBounds(BloomKind::kClassic, m, n, 7);
  EXPECT_LE(oracle::RelativeError(bounds.low, classic), kRounding);
  EXPECT_EQ(bounds.high, BloomRate(m, n, 7));
}

TEST(RateBounds, HaveLimitsAndRefuseNonsense) {
  for (const BloomKind kind : {BloomKind::kClassic, BloomKind::kStandard}) {
    EXPECT_EQ(FalsePositiveRateBounds(kind, 100, 0, 5)->low, 0.0);
    EXPECT_EQ(FalsePositiveRateBounds(kind, 100, 0, 5)->high, 0.0);
  }
  EXPECT_EQ(BloomRate(4, 1, 9), 1.0);
  EXPECT_TRUE(std::isnan(BloomRate(0, 1, 1)));
  EXPECT_TRUE(std::isnan(BloomRate(10, 1, 0)));
  EXPECT_TRUE(std::isnan(BloomRate(10, 1, kMaxAnalysisProbes + 1)));
  EXPECT_FALSE(FalsePositiveRateBounds(BloomKind::kClassic, 6, 1, 7));
}

}  // namespace
}  // namespace exactbloom
