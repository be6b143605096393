#include "exactbloom/theory/key_count_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>

#include "exactbloom/theory/occupancy.h"
#include "tests/filter/sample_filters.h"

namespace exactbloom {
namespace {

constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};

TEST(EstimateKeys, HasTheNumbersOfTheWorkedExample) {
  const auto keys = [](BloomKind kind) { return EstimateKeys(kind, 10, 5, 3, kZ999)->keys; };
  EXPECT_NEAR(keys(BloomKind::kClassic), 1.943358, 5e-7);
  EXPECT_NEAR(keys(BloomKind::kStandard), 2.192938, 5e-7);
  EXPECT_NEAR(SwamidassBaldiKeys(10, 5, 3), 2.3105, 5e-5);
  for (const BloomKind kind : kKinds) {
    EXPECT_EQ(MaximumLikelihoodKeys(kind, 10, 5, 3), 2U);
    EXPECT_NEAR(Occupancy::OfFilter(kind, 10, 2, 3)->Pmf()->At(5),
                kind == BloomKind::kClassic ? 0.525 : 0.4536, 1e-14);
  }
}

TEST(EstimateKeys, OfAMillionKeysIsWithinATenthOfAPercent) {
  const auto large = EstimateKeys(BloomKind::kClassic, 10'000'000, 5'034'145, 7, kZ999);
  EXPECT_NEAR(large->keys, 999'999.0, 1.0);
  EXPECT_NEAR((large->interval.high - large->interval.low) / 2.0 / large->keys, 0.00083, 5e-6);
  const auto small = EstimateKeys(BloomKind::kClassic, 100'000, 50'341, 7, kZ999);
  EXPECT_NEAR((small->interval.high - small->interval.low) / 2.0 / small->keys, 0.0083, 5e-5);
}

TEST(EstimateKeys, InvertsTheExpectedNumberOfOnes) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {1000ULL, 1'000'000ULL, 10'000'000'000ULL}) {
      const std::uint64_t keys = bits / 12;
      const auto occupancy = Occupancy::OfFilter(kind, bits, keys, 7);
      const auto ones = static_cast<std::uint64_t>(std::round(occupancy->Mean()));
      const auto estimate = EstimateKeys(kind, bits, ones, 7, kZ999);
      ASSERT_TRUE(estimate);
      EXPECT_NEAR(estimate->keys, static_cast<double>(keys), 0.2);  // half a bit is 0.1 keys
      EXPECT_TRUE(estimate->interval.Contains(static_cast<double>(keys)));
      // The interval is z deviations of the ones, in keys.
      const double per_key =
          Occupancy::OfFilter(kind, bits, keys + 1, 7)->Mean() - occupancy->Mean();
      const double half = kZ999 * std::sqrt(occupancy->Variance()) / per_key;
      EXPECT_NEAR((estimate->interval.high - estimate->interval.low) / (2.0 * half), 1.0, 0.05);
    }
  }
}

// The probability that the interval holds the truth: the sum of those of the numbers of ones whose
// interval does.
double Coverage(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes, double z) {
  const MassFunction pmf = *Occupancy::OfFilter(kind, bits, keys, probes)->Pmf();
  double coverage = 0.0;
  for (std::uint64_t ones = 0; ones <= bits; ++ones) {
    if (pmf.At(ones) < 1e-15) continue;
    const auto estimate = EstimateKeys(kind, bits, ones, probes, z);
    if (estimate && estimate->interval.Contains(static_cast<double>(keys))) {
      coverage += pmf.At(ones);
    }
  }
  return coverage;
}

// The coverages of filters whose ones have a standard deviation in a range.
Interval Coverages(double z, double least_deviation, double most_deviation) {
  Interval coverages{1.0, 0.0};
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {30, 100, 300, 1000}) {
      for (const int probes : {1, 3, 7}) {
        for (const double load : {0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0}) {
          const auto keys = static_cast<std::uint64_t>(load * static_cast<double>(bits) / probes);
          const double deviation = std::sqrt(MomentsOfOnes(kind, bits, keys, probes)->variance);
          if (deviation < least_deviation || deviation >= most_deviation) continue;
          const double coverage = Coverage(kind, bits, keys, probes, z);
          coverages.low = std::min(coverages.low, coverage);
          coverages.high = std::max(coverages.high, coverage);
        }
      }
    }
  }
  return coverages;
}

TEST(EstimateKeys, CoverTheTruthAsTheHeaderSays) {
  const Interval one = Coverages(1.0, 3.0, 100.0);
  EXPECT_NEAR(one.low, 0.65, 0.01);
  EXPECT_NEAR(one.high, 0.74, 0.005);
  const Interval two = Coverages(1.96, 3.0, 100.0);
  EXPECT_GE(two.low, 0.935);
  EXPECT_LE(two.high, 0.965);
  const Interval most = Coverages(kZ999, 3.0, 100.0);
  EXPECT_GE(most.low, 0.998);
  EXPECT_LE(most.high, 0.9999);
  const Interval few = Coverages(1.0, 1.0, 1.5);
  EXPECT_NEAR(few.low, 0.53, 0.01);
  EXPECT_NEAR(few.high, 0.84, 0.005);
}

TEST(EstimateKeys, LieWithinTheirInterval) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t bits : {2, 12, 50}) {
      for (int probes = 1; probes < static_cast<int>(bits); ++probes) {
        for (std::uint64_t ones = 0; ones <= bits; ++ones) {
          for (const double z : {0.0, 0.5, kZ999, 20.0}) {
            const auto estimate = EstimateKeys(kind, bits, ones, probes, z);
            if (!estimate) continue;
            EXPECT_TRUE(estimate->interval.Contains(estimate->keys));
          }
        }
      }
    }
  }
  // One classic key sets k bits for certain.
  const auto one = EstimateKeys(BloomKind::kClassic, 12, 3, 3, kZ999);
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->interval.Contains(1.0));
  EXPECT_TRUE(one->interval.Contains(one->keys));
}

// Right are 40 digits of log1p and log, rounded.
TEST(EstimateKeys, OfANearlyFullFilterKeepsItsDigits) {
  const std::uint64_t bits = 1'000'000'000;
  const auto keys = [&](BloomKind kind) {
    return EstimateKeys(kind, bits, bits - 1, 7, 0.0)->keys;
  };
  EXPECT_NEAR(keys(BloomKind::kStandard), 2960466546.655, 5e-4);
  EXPECT_NEAR(keys(BloomKind::kClassic), 2960466537.774, 5e-4);
  EXPECT_NEAR(SwamidassBaldiKeys(bits, bits - 1, 7), 2960466548.135, 5e-4);
}

// Of almost empty and almost full filters of 2^40 bits, where a difference of the two would have no
// digits left.
TEST(EstimateKeys, KeepsItsDigitsAtBothEnds) {
  const std::uint64_t bits = std::uint64_t{1} << 40;
  for (const BloomKind kind : kKinds) {
    const auto few = EstimateKeys(kind, bits, 70, 7, 1.0);
    EXPECT_NEAR(few->keys, 10.0, 1e-8);
    EXPECT_NEAR(few->interval.low, 10.0, 1e-4);
    EXPECT_NEAR(few->interval.high, 10.0, 1e-4);
    const auto full = EstimateKeys(kind, bits, bits - 100, 7, 1.0);
    // A hundred zeros are one deviation, the root, from 110.51 and 90.49 expected ones.
    EXPECT_NEAR((full->interval.high - full->interval.low) * 7.0 / static_cast<double>(bits),
                std::log(110.51 / 90.49), 1e-4);
  }
}

TEST(MaximumLikelihoodKeys, MaximisesTheExactProbability) {
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t ones : {7, 8, 20, 77, 140, 199}) {
      const auto best = MaximumLikelihoodKeys(kind, 200, ones, 4);
      ASSERT_TRUE(best);
      const auto mass = [&](std::uint64_t n) {
        return Occupancy::OfFilter(kind, 200, n, 4)->Pmf()->At(ones);
      };
      const double likelihood = mass(*best);
      EXPECT_GT(likelihood, 0.0);
      for (std::uint64_t n = *best / 2; n <= 2 * *best + 2; ++n) EXPECT_LE(mass(n), likelihood);
    }
  }
}

TEST(MaximumLikelihoodKeys, OfALargeFilterHasRoomForAllOnes) {
  const std::uint64_t bits = 1'000'000'000;
  for (const BloomKind kind : kKinds) {
    EXPECT_EQ(MaximumLikelihoodKeys(kind, bits, 7, 7), 1U);
    EXPECT_EQ(MaximumLikelihoodKeys(kind, bits, 700, 7), 100U);
    EXPECT_EQ(MaximumLikelihoodKeys(kind, bits, 701, 7), 101U);  // 100 keys cannot
    EXPECT_EQ(MaximumLikelihoodKeys(kind, bits, 1, 1), 1U);
  }
}

// What many estimates of one number of keys have in common.
struct Estimates {
  std::uint64_t count = 0;
  std::uint64_t covered = 0;
  double sum = 0.0;
  double squares = 0.0;

  void Add(const KeyCountEstimate& estimate, double truth) {
    ++count;
    covered += estimate.interval.Contains(truth) ? 1 : 0;
    sum += estimate.keys;
    squares += estimate.keys * estimate.keys;
  }
  double Mean() const { return sum / static_cast<double>(count); }
  double Deviation() const {
    return std::sqrt(squares / static_cast<double>(count) - Mean() * Mean());
  }
};

constexpr double kZ95 = 1.959963984540054;

// The seeds are 1 to kTrials, so that the outcome is always the same.
TEST(SharedKeys, AreCoveredAsOftenAsPromised) {
  constexpr std::uint64_t kTrials = 2000;
  constexpr std::uint64_t kBits = 4096;
  constexpr int kProbes = 5;
  const auto ones = [](const FilterBlock& a, const FilterBlock& b) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < kBits / 8; ++i) {
      count += std::bitset<8>(static_cast<unsigned char>(a.data[i] | b.data[i])).count();
    }
    return count;
  };
  for (const BloomKind kind : kKinds) {
    for (const std::uint64_t shared : {0, 40, 150, 200}) {
      Estimates estimates;
      for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
        const FilterBlock first = MakeBlock({kind, kBits, 300, kProbes}, seed, 0);
        const FilterBlock second = MakeBlock({kind, kBits, 200, kProbes}, seed, 300 - shared);
        const auto estimate =
            EstimateSharedKeys(kind, kBits, ones(first, first), ones(second, second),
                               ones(first, second), kProbes, kZ95);
        ASSERT_TRUE(estimate);
        estimates.Add(*estimate, static_cast<double>(shared));
      }
      // Where nothing is shared the low end, 0, cannot miss.
      const double promised = shared == 0 ? 0.975 : 0.95;
      EXPECT_TRUE(WilsonInterval(estimates.covered, kTrials, kZ999)->Contains(promised))
          << estimates.covered << " of " << kTrials << " cover " << shared;
      if (shared == 0) continue;  // the estimate is cut at 0, and so high on average
      EXPECT_NEAR(estimates.Mean(), static_cast<double>(shared),
                  kZ999 * estimates.Deviation() / std::sqrt(kTrials) + 0.5);
    }
  }
}

// The interval is widened to hold an estimate that was cut.
TEST(SharedKeys, LieWithinTheirInterval) {
  for (const BloomKind kind : kKinds) {
    for (std::uint64_t first = 0; first <= 16; ++first) {
      for (std::uint64_t second = 0; second <= 16; ++second) {
        for (std::uint64_t both = 0; both <= 16; ++both) {
          for (const double z : {0.0, 0.1, kZ999}) {
            const auto estimate = EstimateSharedKeys(kind, 16, first, second, both, 3, z);
            if (!estimate) continue;
            EXPECT_TRUE(estimate->interval.Contains(estimate->keys))
                << first << " " << second << " " << both;
            EXPECT_GE(estimate->interval.low, 0.0);
          }
        }
      }
    }
  }
}

TEST(SharedKeys, OfEqualFiltersAreAllKeys) {
  const auto estimate = EstimateSharedKeys(BloomKind::kClassic, 1000, 400, 400, 400, 7, kZ999);
  ASSERT_TRUE(estimate);
  EXPECT_NEAR(estimate->keys, EstimateKeys(BloomKind::kClassic, 1000, 400, 7, 0.0)->keys, 1e-9);
}

// Where any key leaves one zero at most, no two bits are zeros.
TEST(SharedKeys, OfKeysThatSetAllBitsButOneHaveAnInterval) {
  const auto one = EstimateSharedKeys(BloomKind::kClassic, 8, 7, 7, 7, 7, kZ999);
  EXPECT_EQ(one->keys, 1.0);
  EXPECT_EQ(one->interval.low, 1.0);
  EXPECT_EQ(one->interval.high, 1.0);
  const auto none = EstimateSharedKeys(BloomKind::kClassic, 8, 0, 7, 7, 7, kZ999);
  EXPECT_EQ(none->interval.low, 0.0);
  EXPECT_EQ(none->interval.high, 0.0);
}

// Where nothing is shared the variance is h(n1 + n2) - h(n1) - h(n2), with h(n) the variance of the
// logarithm of the zeros: in a small filter a double has digits enough to subtract.
TEST(SharedKeys, HaveTheVarianceOfTheZeros) {
  constexpr double kBits = 16.0;
  constexpr double kProbes = 3.0;
  const double zero = 1.0 - kProbes / kBits;
  const double both = zero * (1.0 - kProbes / (kBits - 1.0));
  const auto variance = [&](double keys) {
    return (std::pow(zero, -keys) - 1.0) / kBits -
           (1.0 - 1.0 / kBits) * (1.0 - std::pow(both / zero / zero, keys));
  };
  const auto keys = [](std::uint64_t ones) {
    return EstimateKeys(BloomKind::kClassic, 16, ones, 3, 0.0)->keys;
  };
  const double z = 5.0;
  const auto estimate = EstimateSharedKeys(BloomKind::kClassic, 16, 5, 6, 10, 3, z);
  ASSERT_EQ(estimate->keys, 0.0);
  const double deviation = (estimate->interval.high - (keys(5) + keys(6) - keys(10))) / z;
  EXPECT_NEAR(deviation * deviation * std::log(zero) * std::log(zero),
              variance(keys(5) + keys(6)) - variance(keys(5)) - variance(keys(6)), 1e-13);
}

TEST(EstimateKeys, HasDefinedAnswersAtItsLimits) {
  constexpr BloomKind kClassic = BloomKind::kClassic;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(EstimateKeys(kClassic, 100, 0, 7, kZ999)->keys, 0.0);
  const auto full = EstimateKeys(kClassic, 100, 100, 7, kZ999);
  EXPECT_TRUE(std::isinf(full->keys));
  EXPECT_TRUE(std::isinf(full->interval.high));
  EXPECT_LT(full->interval.low, 100.0);
  EXPECT_TRUE(std::isinf(EstimateKeys(kClassic, 100, 100, 7, 0.0)->interval.low));
  EXPECT_FALSE(EstimateKeys(kClassic, 100, 101, 7, kZ999));
  EXPECT_FALSE(EstimateKeys(kClassic, 100, 2, 3, kZ999));  // one key sets three bits
  EXPECT_TRUE(EstimateKeys(BloomKind::kStandard, 100, 2, 3, kZ999));
  const std::uint64_t largest = std::uint64_t{1} << 53;
  EXPECT_FALSE(EstimateKeys(kClassic, largest, largest - 1, 1, kZ999));  // more than 2^53 keys
  EXPECT_FALSE(EstimateKeys(kClassic, 0, 0, 7, kZ999));
  EXPECT_FALSE(EstimateKeys(kClassic, 7, 7, 7, kZ999));
  EXPECT_FALSE(EstimateKeys(kClassic, 1000, 10, kMaxAnalysisProbes + 1, kZ999));
  EXPECT_FALSE(EstimateKeys(kClassic, 100, 10, 7, nan));
  EXPECT_FALSE(EstimateKeys(kClassic, 100, 10, 7, -1.0));
  EXPECT_FALSE(EstimateKeys(kClassic, 100, 10, 7, std::numeric_limits<double>::infinity()));
  EXPECT_DOUBLE_EQ(EstimateKeys(BloomKind::kStandard, 2, 1, 1, 0.0)->keys, 1.0);
  EXPECT_TRUE(std::isinf(SwamidassBaldiKeys(100, 100, 7)));
  EXPECT_TRUE(std::isnan(SwamidassBaldiKeys(100, 101, 7)));
  EXPECT_TRUE(std::isnan(SwamidassBaldiKeys(largest, largest - 1, 1)));
  EXPECT_EQ(SwamidassBaldiKeys(100, 0, 7), 0.0);
  EXPECT_FALSE(std::signbit(SwamidassBaldiKeys(100, 0, 7)));
  EXPECT_FALSE(std::signbit(EstimateKeys(kClassic, 100, 0, 7, kZ999)->keys));
  EXPECT_EQ(MaximumLikelihoodKeys(kClassic, 100, 0, 7), 0U);
  EXPECT_FALSE(MaximumLikelihoodKeys(kClassic, 100, 100, 7));
  EXPECT_FALSE(MaximumLikelihoodKeys(kClassic, 100, 6, 7));
  EXPECT_FALSE(EstimateSharedKeys(kClassic, 100, 10, 10, 21, 7, kZ999));
  EXPECT_FALSE(EstimateSharedKeys(kClassic, 100, 6, 10, 12, 7, kZ999));
  EXPECT_FALSE(EstimateSharedKeys(kClassic, largest, 10, largest - 1, largest - 1, 1, kZ999));
  EXPECT_FALSE(EstimateSharedKeys(kClassic, 100, 10, 20, 19, 7, kZ999));
  EXPECT_FALSE(EstimateSharedKeys(kClassic, 100, 50, 50, 100, 7, kZ999));
  EXPECT_TRUE(EstimateSharedKeys(kClassic, 100, 10, 10, 20, 7, 0.0));
  EXPECT_FALSE(EstimateSharedKeys(kClassic, 100, 10, 10, 20, 7, nan));
  EXPECT_FALSE(EstimateSharedKeys(kClassic, 100, 10, 10, 20, 7, -1.0));
}

}  // namespace
}  // namespace exactbloom
