#include "exactbloom/false_positive_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "enumeration.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr double kPromisedError = 1e-12;
constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};

oracle::Real OracleRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  return kind == BloomKind::kClassic ? oracle::ClassicRate(bits, keys, probes)
                                     : oracle::StandardRate(bits, keys, probes);
}

TEST(FalsePositiveRate, EqualsEnumerationOfAllSmallFilters) {
  for (int m = 1; m <= 8; ++m) {
    for (int k = 1; k <= 8; ++k) {
      oracle::FilterContents classic(m);
      oracle::FilterContents standard(m);
      for (std::uint64_t n = 1; n <= 4; ++n) {
        standard.AddBalls(k);
        const auto expect = [&](BloomKind kind, const oracle::FilterContents& contents) {
          const double rate = FalsePositiveRate(kind, static_cast<std::uint64_t>(m), n, k);
          EXPECT_LE(oracle::RelativeError(rate, oracle::Real(contents.Rate(kind, k))), 1e-14)
              << static_cast<int>(kind) << " m=" << m << " n=" << n << " k=" << k;
        };
        expect(BloomKind::kStandard, standard);
        if (k > m) continue;
        classic.AddCommittee(k);
        expect(BloomKind::kClassic, classic);
      }
    }
  }
}

struct Geometry {
  std::uint64_t bits;
  std::uint64_t keys;
  int probes;
};

// The rate, 0 below the range of double, and its logarithm.
void ExpectOracleRates(const Geometry& g) {
  for (const BloomKind kind : kKinds) {
    SCOPED_TRACE(testing::Message() << "kind=" << static_cast<int>(kind) << " m=" << g.bits
                                    << " n=" << g.keys << " k=" << g.probes);
    const oracle::Real truth = OracleRate(kind, g.bits, g.keys, g.probes);
    const double log2_truth = oracle::Log2(truth);
    const double rate = FalsePositiveRate(kind, g.bits, g.keys, g.probes);
    if (log2_truth > std::numeric_limits<double>::min_exponent) {
      EXPECT_LE(oracle::RelativeError(rate, truth), kPromisedError);
    } else {
      EXPECT_LT(rate, std::numeric_limits<double>::min());
    }
    EXPECT_NEAR(Log2FalsePositiveRate(kind, g.bits, g.keys, g.probes), log2_truth,
                2e-12 + 4e-16 * std::abs(log2_truth));
  }
}

TEST(FalsePositiveRateExhaustive, EqualsTheOracleUpToTheLargestFilters) {
  for (const std::uint64_t bits : {64ULL, 512ULL, 10'000ULL, 10'000'000ULL, 1'000'000'000'000ULL}) {
    for (const int probes : {1, 2, 7, 23, 64}) {
      for (const double bits_per_key : {0.01, 0.7, 3.0, 10.0, 92.0, 1e5}) {
        const double keys = std::round(static_cast<double>(bits) / bits_per_key);
        if (keys < 1.0 || keys > 1e12) continue;
        ExpectOracleRates({bits, static_cast<std::uint64_t>(keys), probes});
      }
    }
  }
}

TEST(FalsePositiveRate, EqualsTheOracleAtRandomGeometries) {
  ExpectOracleRates({1'000'000'000'000, 1, 64});  // 2^-2000
  std::mt19937_64 random(1908);
  std::uniform_real_distribution<double> decades(0.0, 12.0);
  for (int i = 0; i < 100; ++i) {
    const auto bits = static_cast<std::uint64_t>(std::pow(10.0, decades(random))) + 1;
    const auto keys = static_cast<std::uint64_t>(std::pow(10.0, decades(random)));
    const std::uint64_t probes = 1 + random() % std::min<std::uint64_t>(bits, 40);
    ExpectOracleRates({bits, keys, static_cast<int>(probes)});
  }
}

TEST(FalsePositiveRate, OfMoreProbesThanFiltersHaveEqualsTheOracle) {
  ExpectOracleRates({1024, 5, kMaxProbes + 1});
  ExpectOracleRates({1024, 5, 142});
}

TEST(FalsePositiveRateExhaustive, OfTheMostProbesEqualsTheOracle) {
  for (const std::uint64_t bits : {300ULL, 1024ULL, 1'000'000ULL}) {
    for (const std::uint64_t keys : {1, 5, 2000}) {
      ExpectOracleRates({bits, keys, kMaxAnalysisProbes});
    }
  }
  ExpectOracleRates({1'000'000'000'000, 5'000'000'000, kMaxAnalysisProbes});
}

TEST(FalsePositiveRate, LiesBetweenTheLimitsOfAnEmptyAndOfAFullFilter) {
  for (const BloomKind kind : kKinds) {
    EXPECT_EQ(FalsePositiveRate(kind, 1000, 0, 7), 0.0);
    EXPECT_EQ(Log2FalsePositiveRate(kind, 1000, 0, 7), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(FalsePositiveRate(kind, 1, 1, 1), 1.0);
    EXPECT_NEAR(FalsePositiveRate(kind, 1000, 1'000'000'000'000, 7), 1.0, kPromisedError);
  }
  EXPECT_EQ(FalsePositiveRate(BloomKind::kClassic, 7, 1, 7), 1.0);
}

// Where the sum that makes it is rounded up, too.
TEST(FalsePositiveRate, OfAFullFilterIsNotAboveOne) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {3, 5, 10, 100, 1000}) {
      for (const int probes : {1, 2, 3}) {
        for (const std::uint64_t keys : {20 * bits, 40 * bits + 1, 1000 * bits}) {
          EXPECT_LE(FalsePositiveRate(kind, bits, keys, probes), 1.0);
          EXPECT_LE(Log2FalsePositiveRate(kind, bits, keys, probes), 0.0);
        }
      }
    }
  }
}

TEST(FalsePositiveRate, AnswersNonsenseWithNaN) {
  const std::uint64_t too_many = (std::uint64_t{1} << 53) + 1;
  const std::vector<Geometry> nonsense = {{0, 1, 1},         {too_many, 1, 1},
                                          {10, too_many, 1}, {10, 1, 0},
                                          {10, 1, -3},       {1000, 1, kMaxAnalysisProbes + 1}};
  for (const BloomKind kind : kKinds) {
    for (const Geometry& g : nonsense) {
      EXPECT_TRUE(std::isnan(FalsePositiveRate(kind, g.bits, g.keys, g.probes)));
      EXPECT_TRUE(std::isnan(Log2FalsePositiveRate(kind, g.bits, g.keys, g.probes)));
      EXPECT_TRUE(std::isnan(AsymptoticFalsePositiveRate(g.bits, g.keys, g.probes)));
    }
    EXPECT_TRUE(std::isnan(FalsePositiveRateGivenFill(kind, 10, 11, 3)));
    EXPECT_TRUE(std::isnan(FalsePositiveRateGivenFill(kind, 0, 0, 3)));
    EXPECT_TRUE(std::isnan(FalsePositiveRateGivenFill(kind, 10, 5, 0)));
  }
  EXPECT_TRUE(std::isnan(FalsePositiveRate(BloomKind::kClassic, 6, 1, 7)));
  EXPECT_TRUE(std::isnan(FalsePositiveRateGivenFill(BloomKind::kClassic, 6, 3, 7)));
  EXPECT_FALSE(std::isnan(FalsePositiveRate(BloomKind::kStandard, 6, 1, 7)));
}

TEST(FalsePositiveRateGivenFill, IsTheShareOfQueriesThatHit) {
  const auto expect = [](std::uint64_t bits, std::uint64_t ones, std::uint64_t k) {
    const auto expect_rate = [&](BloomKind kind, const oracle::Real& truth) {
      const double rate = FalsePositiveRateGivenFill(kind, bits, ones, static_cast<int>(k));
      EXPECT_LE(oracle::RelativeError(rate, truth), bits <= 8 ? 1e-15 : 1e-13);
    };
    expect_rate(BloomKind::kClassic, oracle::Binomial(ones, k) / oracle::Binomial(bits, k));
    expect_rate(BloomKind::kStandard, oracle::Power(oracle::Real(ones) / oracle::Real(bits), k));
  };
  for (std::uint64_t m = 1; m <= 8; ++m) {
    for (std::uint64_t k = 1; k <= m; ++k) {
      for (std::uint64_t ones = 0; ones <= m; ++ones) expect(m, ones, k);
    }
  }
  for (const std::uint64_t k : {1, 13, 64}) expect(1'000'000'000'000, 400'000'000'001, k);
}

// The sum over all numbers of keys of a line, in thousands of bits.
oracle::Real OracleCacheLineRate(std::uint64_t lines, std::uint64_t keys, int probes) {
  const oracle::Real share = oracle::Real(1) / oracle::Real(lines);
  oracle::Real sum = 0;
  for (std::uint64_t j = 1; j <= keys; ++j) {
    const oracle::Real part =
        oracle::Binomial(keys, j) * oracle::Power(share, j) * oracle::Power(1 - share, keys - j);
    sum += part * oracle::StandardRate(kCacheLineBits, j, probes);
  }
  return sum;
}

TEST(CacheLineFalsePositiveRate, EqualsTheOracle) {
  for (const std::uint64_t lines : {2, 5, 20}) {
    for (const std::uint64_t keys : {1, 4, 30, 90}) {
      for (const int probes : {1, 6, 12}) {
        SCOPED_TRACE(testing::Message() << lines << " " << keys << " " << probes);
        EXPECT_LE(oracle::RelativeError(CacheLineFalsePositiveRate(lines, keys, probes),
                                        OracleCacheLineRate(lines, keys, probes)),
                  1e-11);
      }
    }
  }
  for (const int probes : {1, 6}) {
    EXPECT_EQ(CacheLineFalsePositiveRate(1, 100, probes),
              FalsePositiveRate(BloomKind::kStandard, kCacheLineBits, 100, probes));
  }
}

TEST(CacheLineFalsePositiveRate, HasDefinedAnswersAtItsLimits) {
  EXPECT_EQ(CacheLineFalsePositiveRate(10, 0, 6), 0.0);
  EXPECT_EQ(CacheLineFalsePositiveRate(10, std::uint64_t{1} << 53, 6), 1.0);
  EXPECT_NEAR(CacheLineFalsePositiveRate(std::uint64_t{1} << 44, 51 * (std::uint64_t{1} << 44), 6),
              CacheLineFalsePositiveRate(1'000'000, 51'000'000, 6), 1e-8);
  // Ten and twenty bits per key.
  EXPECT_NEAR(CacheLineFalsePositiveRate(1'953'125, 100'000'000, 6), 0.00966475, 5e-9);
  EXPECT_NEAR(CacheLineFalsePositiveRate(3'906'250, 100'000'000, 11), 0.000197832, 5e-10);
  EXPECT_TRUE(std::isnan(CacheLineFalsePositiveRate(0, 1, 6)));
  EXPECT_TRUE(std::isnan(CacheLineFalsePositiveRate((std::uint64_t{1} << 44) + 1, 1, 6)));
  EXPECT_TRUE(std::isnan(CacheLineFalsePositiveRate(1, (std::uint64_t{1} << 53) + 1, 6)));
  EXPECT_TRUE(std::isnan(CacheLineFalsePositiveRate(1, 1, 0)));
  EXPECT_TRUE(std::isnan(CacheLineFalsePositiveRate(1, 1, kMaxAnalysisProbes + 1)));
}

}  // namespace
}  // namespace exactbloom
