// The most likely number of keys, by probabilities in thousands of bits.
#include <gtest/gtest.h>

#include <cmath>

#include "exactbloom/theory/key_count_estimate.h"
#include "exactbloom/theory/occupancy.h"
#include "oracle.h"

namespace exactbloom {
namespace {

using oracle::Real;

constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};

// P(X = bits - zeros) over C(bits, zeros): (14), until its terms are far below the sum.
Real Likelihood(BloomKind kind, std::uint64_t bits, std::uint64_t zeros, int probes,
                std::uint64_t keys) {
  const auto k = static_cast<std::uint64_t>(probes);
  const auto zero = kind == BloomKind::kClassic ? oracle::CommitteesZero(bits, keys, k)
                                                : oracle::BallsZero(bits, keys * k);
  const std::uint64_t ones = bits - zeros;
  Real sum = 0;
  Real choices = 1;
  for (std::uint64_t j = 0; j <= ones; ++j) {
    const Real term = choices * zero(zeros + j);
    sum += j % 2 == 0 ? term : Real(-term);
    if (j > 40 && term * 1e60 < abs(sum)) break;
    choices = choices * Real(ones - j) / Real(j + 1);
  }
  return sum;
}

void ExpectMostLikely(BloomKind kind, std::uint64_t bits, std::uint64_t zeros, int probes) {
  SCOPED_TRACE(testing::Message() << "kind=" << static_cast<int>(kind) << " m=" << bits
                                  << " zeros=" << zeros << " k=" << probes);
  const auto best = MaximumLikelihoodKeys(kind, bits, bits - zeros, probes);
  ASSERT_TRUE(best);
  const auto likelihood = [&](std::uint64_t keys) {
    return Likelihood(kind, bits, zeros, probes, keys);
  };
  const Real most = likelihood(*best);
  EXPECT_GE(most, likelihood(*best + 1)) << *best;
  EXPECT_GE(most, likelihood(*best - 1)) << *best;
}

TEST(MaximumLikelihoodKeys, OfANearlyFullFilterIsExact) {
  EXPECT_EQ(MaximumLikelihoodKeys(BloomKind::kStandard, 32'769, 32'768, 1), 340'702U);
  EXPECT_EQ(MaximumLikelihoodKeys(BloomKind::kStandard, 1'000'000, 999'900, 7), 1'315'762U);
  for (const BloomKind kind : kKinds) {
    for (const int probes : {1, 7}) {
      for (const std::uint64_t zeros : {1, 2, 100}) {
        ExpectMostLikely(kind, 300, zeros, probes);
        ExpectMostLikely(kind, 32'769, zeros, probes);
        ExpectMostLikely(kind, 1'000'000, zeros, probes);
      }
    }
  }
  ExpectMostLikely(BloomKind::kStandard, 1'000'000'000'000, 3, 7);
}

TEST(MaximumLikelihoodKeys, OfAnyFillIsExact) {
  for (const BloomKind kind : kKinds) {
    for (const double zeros : {0.1, 0.5, 0.9, 0.99}) {
      for (const int probes : {1, 7, 50}) {
        const auto left = static_cast<std::uint64_t>(300 * zeros);
        if (left + static_cast<unsigned>(probes) > 300) continue;  // too few ones for one key
        ExpectMostLikely(kind, 300, left, probes);
      }
    }
    ExpectMostLikely(kind, 512, 256, 200);
    ExpectMostLikely(kind, 1500, 750, 7);
  }
}

// Of all fills of small filters, by the p.m.f.
TEST(MaximumLikelihoodKeys, OfSmallFiltersMaximisesThePmf) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {2, 3, 8, 20}) {
      for (int probes = 1; probes < static_cast<int>(bits); ++probes) {
        const std::uint64_t least = kind == BloomKind::kClassic ? static_cast<unsigned>(probes) : 1;
        for (std::uint64_t ones = least; ones < bits; ++ones) {
          const auto best = MaximumLikelihoodKeys(kind, bits, ones, probes);
          ASSERT_TRUE(best);
          const auto mass = [&](std::uint64_t keys) {
            return Occupancy::OfFilter(kind, bits, keys, probes)->Pmf()->At(ones);
          };
          const double likelihood = mass(*best) * (1.0 + 1e-9);
          for (std::uint64_t keys = 1; keys <= 3 * *best + 5; ++keys) {
            ASSERT_LE(mass(keys), likelihood) << bits << " " << probes << " " << ones;
          }
        }
      }
    }
  }
}

// At 2^53 bits a double tells neighbours apart no more.
TEST(MaximumLikelihoodKeys, OfTheLargestFiltersIsTheMean) {
  const std::uint64_t bits = std::uint64_t{1} << 53;
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t zeros : {bits / 2, bits / 1000, std::uint64_t{5}}) {
      const auto best = MaximumLikelihoodKeys(kind, bits, bits - zeros, 50);
      const auto moments = EstimateKeys(kind, bits, bits - zeros, 50, 1.0);
      ASSERT_TRUE(best && moments);
      EXPECT_NEAR(static_cast<double>(*best) / moments->keys, 1.0, 1e-14);
    }
    EXPECT_FALSE(MaximumLikelihoodKeys(kind, bits, bits - 1, 1));  // more than 2^53 keys
  }
}

}  // namespace
}  // namespace exactbloom
