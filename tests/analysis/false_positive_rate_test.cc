#include "exactbloom/false_positive_rate.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <vector>

#include "enumeration.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr double kPromisedError = 1e-12;
constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

oracle::Real OracleRate(FilterKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  return kind == FilterKind::kClassic ? oracle::ClassicRate(bits, keys, probes)
                                      : oracle::StandardRate(bits, keys, probes);
}

TEST(FalsePositiveRate, EqualsEnumerationOfAllSmallFilters) {
  for (int m = 1; m <= 8; ++m) {
    for (int k = 1; k <= 8; ++k) {
      oracle::FilterContents classic(m);
      oracle::FilterContents standard(m);
      for (std::uint64_t n = 1; n <= 4; ++n) {
        standard.AddBalls(k);
        const auto expect = [&](FilterKind kind, const mpq_class& truth) {
          const double rate = FalsePositiveRate(kind, static_cast<std::uint64_t>(m), n, k);
          EXPECT_LE(oracle::RelativeError(rate, oracle::Real(truth)), 1e-14)
              << static_cast<int>(kind) << " m=" << m << " n=" << n << " k=" << k;
        };
        expect(FilterKind::kStandard, standard.StandardRate(k));
        if (k > m) continue;
        classic.AddCommittee(k);
        expect(FilterKind::kClassic, classic.ClassicRate(k));
      }
    }
  }
}

struct Geometry {
  std::uint64_t bits;
  std::uint64_t keys;
  int probes;
};

TEST(FalsePositiveRateExhaustive, EqualsTheOracleUpToTheLargestFilters) {
  std::vector<Geometry> geometries;
  for (const std::uint64_t bits : {64ULL, 512ULL, 10'000ULL, 10'000'000ULL, 1'000'000'000'000ULL}) {
    for (const int probes : {1, 2, 7, 23, 64}) {
      for (const double bits_per_key : {0.01, 0.7, 3.0, 10.0, 92.0, 1e5}) {
        const double keys = std::round(static_cast<double>(bits) / bits_per_key);
        if (keys < 1.0 || keys > 1e12) continue;
        geometries.push_back({bits, static_cast<std::uint64_t>(keys), probes});
      }
    }
  }
  for (const FilterKind kind : kKinds) {
    for (const Geometry& g : geometries) {
      const oracle::Real truth = OracleRate(kind, g.bits, g.keys, g.probes);
      const double log2_truth = oracle::Log2(truth);
      SCOPED_TRACE(testing::Message() << "kind=" << static_cast<int>(kind) << " m=" << g.bits
                                      << " n=" << g.keys << " k=" << g.probes);
      if (log2_truth > std::numeric_limits<double>::min_exponent) {
        const double rate = FalsePositiveRate(kind, g.bits, g.keys, g.probes);
        EXPECT_LE(oracle::RelativeError(rate, truth), kPromisedError);
      }
      EXPECT_NEAR(Log2FalsePositiveRate(kind, g.bits, g.keys, g.probes), log2_truth,
                  2e-12 + 4e-16 * std::abs(log2_truth));
    }
  }
}

TEST(FalsePositiveRate, EqualsTheOracleAtRandomGeometries) {
  EXPECT_TRUE(rc::check("relative error within the promise", [] {
    const auto magnitude = [](double decades) {
      const int hundredths = *rc::gen::inRange(0, static_cast<int>(decades * 100));
      return static_cast<std::uint64_t>(std::pow(10.0, hundredths / 100.0));
    };
    const std::uint64_t bits = magnitude(12.0) + 1;
    const std::uint64_t keys = magnitude(12.0);
    const int most = static_cast<int>(std::min<std::uint64_t>(bits, 40));
    const int probes = *rc::gen::inRange(1, most + 1);
    for (const FilterKind kind : kKinds) {
      const oracle::Real truth = OracleRate(kind, bits, keys, probes);
      if (oracle::Log2(truth) < std::numeric_limits<double>::min_exponent) continue;
      RC_ASSERT(oracle::RelativeError(FalsePositiveRate(kind, bits, keys, probes), truth) <=
                kPromisedError);
    }
  }));
}

TEST(FalsePositiveRate, KeepsItsLogarithmBelowTheRangeOfDouble) {
  const std::uint64_t bits = 1'000'000'000'000;
  for (const FilterKind kind : kKinds) {
    const double log2_rate = Log2FalsePositiveRate(kind, bits, 1, 64);
    EXPECT_LT(log2_rate, -2000.0);
    EXPECT_NEAR(log2_rate, oracle::Log2(OracleRate(kind, bits, 1, 64)), 2e-12);
    EXPECT_EQ(FalsePositiveRate(kind, bits, 1, 64), 0.0);
  }
}

// m = 64, n = 4, the example of Section 3 of the paper.
TEST(FalsePositiveRate, ReproducesThePapersExample) {
  EXPECT_NEAR(FalsePositiveRate(FilterKind::kStandard, 64, 4, 10), 6.154e-4, 5e-8);
  EXPECT_NEAR(FalsePositiveRate(FilterKind::kStandard, 64, 4, 11), 6.248e-4, 5e-8);
  EXPECT_NEAR(FalsePositiveRate(FilterKind::kClassic, 64, 4, 9), 4.550e-4, 5e-8);
  EXPECT_NEAR(FalsePositiveRate(FilterKind::kClassic, 64, 4, 11), 4.851e-4, 5e-8);
}

TEST(FalsePositiveRate, LiesBetweenTheLimitsOfAnEmptyAndOfAFullFilter) {
  for (const FilterKind kind : kKinds) {
    EXPECT_EQ(FalsePositiveRate(kind, 1000, 0, 7), 0.0);
    EXPECT_EQ(Log2FalsePositiveRate(kind, 1000, 0, 7), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(FalsePositiveRate(kind, 1, 1, 1), 1.0);
    EXPECT_NEAR(FalsePositiveRate(kind, 1000, 1'000'000'000'000, 7), 1.0, kPromisedError);
  }
  EXPECT_EQ(FalsePositiveRate(FilterKind::kClassic, 7, 1, 7), 1.0);
}

TEST(FalsePositiveRate, AnswersNonsenseWithNaN) {
  const std::uint64_t too_many = (std::uint64_t{1} << 53) + 1;
  const std::vector<Geometry> nonsense = {{0, 1, 1},  {too_many, 1, 1}, {10, too_many, 1},
                                          {10, 1, 0}, {10, 1, -3},      {1000, 1, kMaxProbes + 1}};
  for (const FilterKind kind : kKinds) {
    for (const Geometry& g : nonsense) {
      EXPECT_TRUE(std::isnan(FalsePositiveRate(kind, g.bits, g.keys, g.probes)));
      EXPECT_TRUE(std::isnan(Log2FalsePositiveRate(kind, g.bits, g.keys, g.probes)));
      EXPECT_TRUE(std::isnan(AsymptoticFalsePositiveRate(g.bits, g.keys, g.probes)));
    }
    EXPECT_TRUE(std::isnan(FalsePositiveRateGivenFill(kind, 10, 11, 3)));
    EXPECT_TRUE(std::isnan(FalsePositiveRateGivenFill(kind, 0, 0, 3)));
    EXPECT_TRUE(std::isnan(FalsePositiveRateGivenFill(kind, 10, 5, 0)));
  }
  EXPECT_TRUE(std::isnan(FalsePositiveRate(FilterKind::kClassic, 6, 1, 7)));
  EXPECT_TRUE(std::isnan(FalsePositiveRateGivenFill(FilterKind::kClassic, 6, 3, 7)));
  EXPECT_FALSE(std::isnan(FalsePositiveRate(FilterKind::kStandard, 6, 1, 7)));
}

TEST(FalsePositiveRateGivenFill, IsTheShareOfQueriesThatHit) {
  for (int m = 1; m <= 8; ++m) {
    for (int k = 1; k <= m; ++k) {
      for (int x = 0; x <= m; ++x) {
        // The content with exactly x ones, whichever they are: one committee of size x.
        oracle::FilterContents contents(m);
        contents.AddCommittee(x);
        const auto expect = [&](FilterKind kind, const mpq_class& truth) {
          const double rate = FalsePositiveRateGivenFill(kind, static_cast<std::uint64_t>(m),
                                                         static_cast<std::uint64_t>(x), k);
          EXPECT_LE(oracle::RelativeError(rate, oracle::Real(truth)), 1e-15);
        };
        expect(FilterKind::kClassic, contents.ClassicRate(k));
        expect(FilterKind::kStandard, contents.StandardRate(k));
      }
    }
  }
}

TEST(FalsePositiveRateGivenFill, EqualsTheOracleForLargeFilters) {
  const std::uint64_t bits = 1'000'000'000'000;
  const std::uint64_t ones = 400'000'000'001;
  for (const int probes : {1, 13, 64}) {
    const auto k = static_cast<std::uint64_t>(probes);
    const auto expect = [&](FilterKind kind, const oracle::Real& truth) {
      const double rate = FalsePositiveRateGivenFill(kind, bits, ones, probes);
      EXPECT_LE(oracle::RelativeError(rate, truth), 1e-13);
    };
    expect(FilterKind::kClassic, oracle::Binomial(ones, k) / oracle::Binomial(bits, k));
    expect(FilterKind::kStandard, oracle::Power(oracle::Real(ones) / oracle::Real(bits), k));
  }
}

}  // namespace
}  // namespace exactbloom
