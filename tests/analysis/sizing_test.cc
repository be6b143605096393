#include "exactbloom/sizing.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "enumeration.h"
#include "exactbloom/false_positive_rate.h"

namespace exactbloom {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

int MostProbes(FilterKind kind, std::uint64_t bits) {
  return kind == FilterKind::kClassic ? static_cast<int>(std::min<std::uint64_t>(bits, kMaxProbes))
                                      : kMaxProbes;
}

int BestOfAllProbes(FilterKind kind, std::uint64_t bits, std::uint64_t keys) {
  int best = 1;
  double best_rate = Log2FalsePositiveRate(kind, bits, keys, 1);
  for (int k = 2; k <= MostProbes(kind, bits); ++k) {
    const double rate = Log2FalsePositiveRate(kind, bits, keys, k);
    if (rate < best_rate) {
      best = k;
      best_rate = rate;
    }
  }
  return best;
}

double BestLog2Rate(FilterKind kind, std::uint64_t bits, std::uint64_t keys) {
  return Log2FalsePositiveRate(kind, bits, keys, OptimalProbes(kind, bits, keys));
}

TEST(OptimalProbes, IsTheFirstMinimumOfTheEnumeratedRates) {
  for (int m = 1; m <= 8; ++m) {
    for (int n = 1; n <= 4; ++n) {
      int best_classic = 1;
      int best_standard = 1;
      mpq_class classic_rate = 2;
      mpq_class standard_rate = 2;
      for (int k = 1; k <= 8; ++k) {
        oracle::FilterContents contents(m);
        contents.AddBalls(n * k);
        if (contents.StandardRate(k) < standard_rate) {
          standard_rate = contents.StandardRate(k);
          best_standard = k;
        }
        if (k > m) continue;
        oracle::FilterContents classic(m);
        for (int key = 0; key < n; ++key) classic.AddCommittee(k);
        if (classic.ClassicRate(k) < classic_rate) {
          classic_rate = classic.ClassicRate(k);
          best_classic = k;
        }
      }
      const auto bits = static_cast<std::uint64_t>(m);
      const auto keys = static_cast<std::uint64_t>(n);
      EXPECT_EQ(OptimalProbes(FilterKind::kClassic, bits, keys), best_classic) << m << " " << n;
      EXPECT_EQ(OptimalProbes(FilterKind::kStandard, bits, keys), best_standard) << m << " " << n;
    }
  }
}

TEST(OptimalProbes, EqualsASearchOverAllProbes) {
  for (const FilterKind kind : kKinds) {
    for (const std::uint64_t keys : {1, 2, 3, 4, 5, 7, 10, 50, 1000, 100'000}) {
      for (const double bits_per_key : {1.0, 1.5, 2.2, 5.0, 9.9, 10.0, 14.4, 20.0, 50.0, 100.0}) {
        const auto bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys));
        EXPECT_EQ(OptimalProbes(kind, bits, keys), BestOfAllProbes(kind, bits, keys))
            << "kind=" << static_cast<int>(kind) << " m=" << bits << " n=" << keys;
      }
    }
  }
}

// m = 64, n = 4, the example of Section 3 of the paper: the usual formula gives 11.
TEST(OptimalProbes, ReproducesThePapersExample) {
  EXPECT_EQ(OptimalProbes(FilterKind::kStandard, 64, 4), 10);
  EXPECT_EQ(OptimalProbes(FilterKind::kClassic, 64, 4), 9);
}

TEST(OptimalProbes, ReproducesTheReferenceValuesOfLargeFilters) {
  for (const FilterKind kind : kKinds) {
    EXPECT_EQ(OptimalProbes(kind, 10'000'000, 1'000'000), 7);
    EXPECT_EQ(OptimalProbes(kind, 20'000'000, 1'000'000), 14);
  }
}

TEST(OptimalProbes, HasDefinedAnswersAtAndBeyondItsLimits) {
  const std::uint64_t too_many = (std::uint64_t{1} << 53) + 1;
  for (const FilterKind kind : kKinds) {
    EXPECT_EQ(OptimalProbes(kind, 0, 10), 0);
    EXPECT_EQ(OptimalProbes(kind, too_many, 10), 0);
    EXPECT_EQ(OptimalProbes(kind, 100, 0), 1);
    EXPECT_EQ(OptimalProbes(kind, 100, 1'000'000), 1);
    EXPECT_EQ(OptimalProbes(kind, 1'000'000, 1), kMaxProbes);
  }
}

void ExpectSmallest(FilterKind kind, std::uint64_t keys, double target) {
  SCOPED_TRACE(testing::Message() << "kind=" << static_cast<int>(kind) << " n=" << keys
                                  << " target=" << target);
  const auto size = SmallestFilter(kind, keys, target);
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->probes, OptimalProbes(kind, size->bits, keys));
  EXPECT_LE(BestLog2Rate(kind, size->bits, keys), std::log2(target));
  EXPECT_GT(BestLog2Rate(kind, size->bits - 1, keys), std::log2(target));
  const double rate = FalsePositiveRate(kind, size->bits, keys, size->probes);
  EXPECT_NEAR(size->false_positive_rate / rate, 1.0, 1e-12);
}

TEST(SmallestFilter, ReachesTheTargetAndOneBitLessDoesNot) {
  for (const FilterKind kind : kKinds) {
    for (const std::uint64_t keys : {1ULL, 2ULL, 5ULL, 100ULL, 12'345ULL, 1'000'000ULL}) {
      for (const double target : {0.999, 0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-9}) {
        ExpectSmallest(kind, keys, target);
      }
    }
    ExpectSmallest(kind, 1'000'000'000'000, 0.01);
  }
}

TEST(SmallestFilter, TendsToTheUsualFormulaForManyKeys) {
  const auto size = SmallestFilter(FilterKind::kStandard, 10'000'000, 1.0 / 128);
  ASSERT_TRUE(size.has_value());
  EXPECT_NEAR(static_cast<double>(size->bits) / 1e7, 7.0 / std::log(2.0), 1e-4);
  EXPECT_EQ(size->probes, 7);
}

TEST(SmallestFilter, AnswersNonsenseWithNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const FilterKind kind : kKinds) {
    for (const double target : {0.0, 1.0, -0.1, 1.5, nan}) {
      EXPECT_FALSE(SmallestFilter(kind, 100, target).has_value());
    }
    EXPECT_FALSE(SmallestFilter(kind, 0, 0.01).has_value());
    EXPECT_FALSE(SmallestFilter(kind, 1'000'000'000'001, 0.01).has_value());
    // 2^53 bits and kMaxProbes are not enough for this.
    EXPECT_FALSE(SmallestFilter(kind, 1'000'000'000'000, 1e-300).has_value());
  }
}

void ExpectMost(FilterKind kind, std::uint64_t bits, double target) {
  SCOPED_TRACE(testing::Message() << "kind=" << static_cast<int>(kind) << " m=" << bits
                                  << " target=" << target);
  const auto keys = MostKeys(kind, bits, target);
  ASSERT_TRUE(keys.has_value());
  if (*keys > 0) {
    EXPECT_LE(BestLog2Rate(kind, bits, *keys), std::log2(target));
  }
  EXPECT_GT(BestLog2Rate(kind, bits, *keys + 1), std::log2(target));
}

TEST(MostKeys, KeepsTheTargetAndOneKeyMoreDoesNot) {
  for (const FilterKind kind : kKinds) {
    for (const std::uint64_t bits : {1ULL, 2ULL, 7ULL, 64ULL, 512ULL, 32'768ULL, 1'000'001ULL}) {
      for (const double target : {0.999, 0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-9}) {
        ExpectMost(kind, bits, target);
      }
    }
    ExpectMost(kind, 1'000'000'000'000, 0.01);
  }
}

TEST(MostKeys, IsTheInverseOfSmallestFilter) {
  EXPECT_TRUE(rc::check("the smallest filter for n keys holds n keys", [] {
    const auto keys = static_cast<std::uint64_t>(*rc::gen::inRange(1, 50'000));
    const double target = std::exp2(-*rc::gen::inRange(1, 200) / 10.0);
    for (const FilterKind kind : kKinds) {
      const auto size = SmallestFilter(kind, keys, target);
      RC_ASSERT(size.has_value());
      const auto most = MostKeys(kind, size->bits, target);
      RC_ASSERT(most.has_value());
      RC_ASSERT(*most >= keys);
      const auto fewer = MostKeys(kind, size->bits - 1, target);
      RC_ASSERT(fewer.has_value());
      RC_ASSERT(*fewer < keys);
    }
  }));
}

TEST(MostKeys, EndsWhereTheTargetIsOneButForRounding) {
  for (const FilterKind kind : kKinds) {
    for (const std::uint64_t bits : {2ULL, 1000ULL, 1'000'000'000'000ULL}) {
      const auto keys = MostKeys(kind, bits, std::nextafter(1.0, 0.0));
      ASSERT_TRUE(keys.has_value());
      EXPECT_GT(*keys, bits);
      EXPECT_LE(*keys, std::uint64_t{1} << 53);
    }
  }
}

TEST(MostKeys, AnswersNonsenseWithNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const FilterKind kind : kKinds) {
    for (const double target : {0.0, 1.0, -0.1, 1.5, nan}) {
      EXPECT_FALSE(MostKeys(kind, 100, target).has_value());
    }
    EXPECT_FALSE(MostKeys(kind, 0, 0.01).has_value());
    EXPECT_FALSE(MostKeys(kind, 1'000'000'000'001, 0.01).has_value());
    EXPECT_EQ(MostKeys(kind, 1, 0.5), 0U);
  }
}

}  // namespace
}  // namespace exactbloom
