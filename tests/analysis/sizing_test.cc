#include "exactbloom/sizing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "src/analysis/sizing_search.h"
#include "tests/filter/sample_filters.h"

namespace exactbloom {
namespace {

constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};

int BestOfAllProbes(BloomKind kind, std::uint64_t bits, std::uint64_t keys) {
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

// Without bits every key passes.
double BestLog2Rate(BloomKind kind, std::uint64_t bits, std::uint64_t keys) {
  const int probes = OptimalProbes(kind, bits, keys);
  return probes == 0 ? 0.0 : Log2FalsePositiveRate(kind, bits, keys, probes);
}

TEST(OptimalProbes, EqualsASearchOverAllProbes) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t keys : {1, 2, 3, 4, 5, 7, 10, 50, 1000, 100'000}) {
      std::vector<std::uint64_t> sizes;
      for (std::uint64_t bits = 1; keys <= 5 && bits <= 8; ++bits) sizes.push_back(bits);
      for (const double bits_per_key : {1.0, 1.5, 2.2, 5.0, 9.9, 10.0, 14.4, 20.0, 50.0, 100.0}) {
        sizes.push_back(static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys)));
      }
      for (const std::uint64_t bits : sizes) {
        EXPECT_EQ(OptimalProbes(kind, bits, keys), BestOfAllProbes(kind, bits, keys))
            << "kind=" << static_cast<int>(kind) << " m=" << bits << " n=" << keys;
      }
    }
  }
}

// One classic key has the rate 1 / C(m, k), which k and m - k probes share; rounding must not
// choose.
TEST(OptimalProbes, AreTheFewestOfATie) {
  for (std::uint64_t bits = 2; bits <= 200; ++bits) {
    EXPECT_EQ(OptimalProbes(BloomKind::kClassic, bits, 1, kMaxAnalysisProbes), bits / 2) << bits;
  }
  for (const int most : {1, 5, kMaxProbes}) {
    EXPECT_EQ(OptimalProbes(BloomKind::kStandard, 1, 7, most), 1);
  }
  EXPECT_EQ(OptimalProbes(BloomKind::kStandard, 3, 1), 1);  // 1/3 with one probe and with two
}

TEST(OptimalProbes, HasDefinedAnswersAtAndBeyondItsLimits) {
  const std::uint64_t too_many = (std::uint64_t{1} << 53) + 1;
  for (const BloomKind kind : kKinds) {
    EXPECT_EQ(OptimalProbes(kind, 0, 10), 0);
    EXPECT_EQ(OptimalProbes(kind, too_many, 10), 0);
    EXPECT_EQ(OptimalProbes(kind, 100, 0), 1);
    EXPECT_EQ(OptimalProbes(kind, 100, 1'000'000), 1);
    EXPECT_EQ(OptimalProbes(kind, 100, too_many), 1);
    EXPECT_EQ(OptimalProbes(kind, 1'000'000, 1), kMaxProbes);
    EXPECT_EQ(OptimalProbes(kind, 1'000'000, 1, kMaxAnalysisProbes), kMaxAnalysisProbes);
    EXPECT_EQ(OptimalProbes(kind, 1000, 100, 3), 3);
    EXPECT_EQ(OptimalProbes(kind, 1000, 100, 0), 0);
    EXPECT_EQ(OptimalProbes(kind, 1000, 100, kMaxAnalysisProbes + 1), 0);
  }
}

// Conjecture 24 as it is quoted: classic k* <= standard k* <= ceil((m/n) ln 2).
TEST(OptimalProbes, RefutesTheFirstPartOfConjecture24) {
  constexpr std::uint64_t kMostBits = 300;
  int geometries = 0;
  int counterexamples = 0;
  int overfull = 0;  // classic ones, with more than half of the bits set
  for (std::uint64_t bits = 1; bits <= kMostBits; ++bits) {
    for (std::uint64_t keys = 1; keys <= bits; ++keys) {
      const double usual = static_cast<double>(bits) / static_cast<double>(keys) * kLn2;
      if (usual > kMaxProbes) continue;
      SCOPED_TRACE(testing::Message() << "m=" << bits << " n=" << keys);
      ++geometries;
      const int classic = OptimalProbes(BloomKind::kClassic, bits, keys);
      const int standard = OptimalProbes(BloomKind::kStandard, bits, keys);
      if (classic > standard) ++counterexamples;
      const double zero = std::pow(1.0 - static_cast<double>(classic) / static_cast<double>(bits),
                                   static_cast<double>(keys));
      if (zero < 0.5) ++overfull;
      EXPECT_LE(standard, std::ceil(usual));
      EXPECT_LE(FalsePositiveRate(BloomKind::kClassic, bits, keys, classic),
                FalsePositiveRate(BloomKind::kStandard, bits, keys, standard) * (1.0 + 1e-12));
    }
  }
  EXPECT_EQ(geometries, 44'860);
  EXPECT_EQ(counterexamples, 7);
  EXPECT_NEAR(overfull / 44'860.0, 0.561, 0.0005);
  EXPECT_EQ(OptimalProbes(BloomKind::kClassic, 26, 12), 2);
  EXPECT_EQ(OptimalProbes(BloomKind::kStandard, 26, 12), 1);
}

void ExpectSmallest(BloomKind kind, std::uint64_t keys, double target) {
  SCOPED_TRACE(testing::Message() << "kind=" << static_cast<int>(kind) << " n=" << keys
                                  << " target=" << target);
  const auto size = SmallestFilter(kind, keys, target);
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->probes, OptimalProbes(kind, size->bits, keys));
  EXPECT_LE(BestLog2Rate(kind, size->bits, keys), std::log2(target));
  EXPECT_GT(BestLog2Rate(kind, size->bits - 1, keys), std::log2(target));
  const double rate = FalsePositiveRate(kind, size->bits, keys, size->probes);
  EXPECT_NEAR(size->false_positive_rate / rate, 1.0, 1e-12);
  if (size->bits > 1'000'000'000'000) return;  // more than MostKeys() takes
  const auto most = MostKeys(kind, size->bits, target);
  ASSERT_TRUE(most.has_value());
  EXPECT_GE(*most, keys);
}

TEST(SmallestFilter, ReachesTheTargetAndOneBitLessDoesNot) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t keys : {1ULL, 2ULL, 5ULL, 100ULL, 12'345ULL, 1'000'000ULL}) {
      for (const double target : {0.999, 0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-9}) {
        ExpectSmallest(kind, keys, target);
      }
    }
    ExpectSmallest(kind, 1'000'000'000'000, 0.01);
  }
}

void ExpectMost(BloomKind kind, std::uint64_t bits, double target) {
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
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {1ULL, 2ULL, 7ULL, 64ULL, 512ULL, 32'768ULL, 1'000'001ULL}) {
      for (const double target : {0.999, 0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-9}) {
        ExpectMost(kind, bits, target);
      }
    }
    ExpectMost(kind, 1'000'000'000'000, 0.01);
  }
}

TEST(LeastUpTo, FindsTheLeastWhateverTheGuess) {
  for (const std::uint64_t most : {1, 2, 7, 100, 1000}) {
    for (std::uint64_t least = 1; least <= most + 1; least += 1 + least / 9) {
      for (const std::uint64_t guess : {std::uint64_t{0}, least, least / 2, 2 * least, most}) {
        const auto found =
            analysis::LeastUpTo(most, guess, [&](std::uint64_t x) { return x >= least; });
        const auto expected = least <= most ? std::optional(least) : std::nullopt;
        EXPECT_EQ(found, expected) << most << ' ' << guess;
      }
    }
  }
}

TEST(Sizing, OfSmallFiltersIsThatOfALinearSearch) {
  for (const BloomKind kind : kKinds) {
    for (const double target : {0.6, 0.1, 0.02}) {
      for (const int most : {1, 2, kMaxProbes}) {
        const auto reaches = [&](std::uint64_t bits, std::uint64_t keys) {
          const int probes = OptimalProbes(kind, bits, keys, most);
          return keys == 0 || Log2FalsePositiveRate(kind, bits, keys, probes) <= std::log2(target);
        };
        for (std::uint64_t keys = 1; keys <= 5; ++keys) {
          std::uint64_t bits = 1;
          while (!reaches(bits, keys)) ++bits;
          const auto size = SmallestFilter(kind, keys, target, most);
          EXPECT_EQ(size->bits, bits);
          EXPECT_EQ(size->probes, OptimalProbes(kind, bits, keys, most));
          const double rate = FalsePositiveRate(kind, bits, keys, size->probes);
          EXPECT_NEAR(size->false_positive_rate, rate, 1e-12);
        }
        for (std::uint64_t bits = 1; bits <= 40; ++bits) {
          std::uint64_t keys = 0;
          while (reaches(bits, keys + 1)) ++keys;
          EXPECT_EQ(MostKeys(kind, bits, target, most), keys) << bits;
        }
      }
    }
  }
}

// Burns 2019, Section 5: 124 probes. With 72 the filter is larger.
TEST(SmallestFilter, TakesAsManyProbesAsItMay) {
  constexpr double kRate = 9.2e-44;
  const auto many = SmallestFilter(BloomKind::kClassic, 5, kRate, kMaxAnalysisProbes);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->bits, 1024U);
  EXPECT_EQ(many->probes, 124);
  EXPECT_EQ(SmallestFilter(BloomKind::kClassic, 5, kRate)->bits, 1166U);
  EXPECT_EQ(MostKeys(BloomKind::kClassic, 1024, kRate, kMaxAnalysisProbes), 5U);
  EXPECT_EQ(MostKeys(BloomKind::kClassic, 1024, kRate), 4U);
  for (const int most : {0, kMaxAnalysisProbes + 1}) {
    EXPECT_FALSE(SmallestFilter(BloomKind::kClassic, 5, kRate, most));
    EXPECT_FALSE(MostKeys(BloomKind::kClassic, 1024, kRate, most));
  }
}

TEST(MostKeys, EndsWhereTheTargetIsOneButForRounding) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {2ULL, 1000ULL, 1'000'000'000'000ULL}) {
      const auto keys = MostKeys(kind, bits, std::nextafter(1.0, 0.0));
      ASSERT_TRUE(keys.has_value());
      EXPECT_GT(*keys, bits);
      EXPECT_LE(*keys, std::uint64_t{1} << 53);
    }
  }
}

TEST(Sizing, AnswersNonsenseWithNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const BloomKind kind : kKinds) {
    for (const double target : {0.0, 1.0, -0.1, 1.5, nan}) {
      EXPECT_FALSE(SmallestFilter(kind, 100, target).has_value());
      EXPECT_FALSE(MostKeys(kind, 100, target).has_value());
    }
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1'000'000'000'001}}) {
      EXPECT_FALSE(SmallestFilter(kind, count, 0.01).has_value());
      EXPECT_FALSE(MostKeys(kind, count, 0.01).has_value());
    }
    // 2^53 bits and kMaxProbes are not enough for this.
    EXPECT_FALSE(SmallestFilter(kind, 1'000'000'000'000, 1e-300).has_value());
    EXPECT_EQ(MostKeys(kind, 1, 0.5), 0U);
  }
}

}  // namespace
}  // namespace exactbloom
