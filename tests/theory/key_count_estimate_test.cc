#include "exactbloom/theory/key_count_estimate.h"

#include <gtest/gtest.h>

#include <bitset>
#include <cmath>
#include <limits>
#include <vector>

#include "exactbloom/theory/occupancy.h"
#include "tests/filter/sample_filters.h"

namespace exactbloom {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

TEST(EstimateKeys, InvertsTheExpectedNumberOfOnes) {
  for (const FilterKind kind : kKinds) {
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

// The coverage is exact: the probabilities of all numbers of ones whose interval holds the truth.
TEST(EstimateKeys, CoversTheTruthAsOftenAsItPromises) {
  for (const FilterKind kind : kKinds) {
    for (const std::uint64_t keys : {30, 100, 200}) {
      const auto occupancy = Occupancy::OfFilter(kind, 1000, keys, 7);
      const MassFunction pmf = occupancy->Pmf();
      double coverage = 0.0;
      for (std::uint64_t ones = 0; ones < 1000; ++ones) {
        const auto estimate = EstimateKeys(kind, 1000, ones, 7, kZ999);
        ASSERT_TRUE(estimate);
        if (estimate->interval.Contains(static_cast<double>(keys))) coverage += pmf.At(ones);
      }
      EXPECT_NEAR(coverage, 0.999, 0.001) << keys;
    }
  }
}

TEST(MaximumLikelihoodKeys, MaximisesTheExactProbability) {
  for (const FilterKind kind : kKinds) {
    for (const std::uint64_t ones : {7, 8, 20, 77, 140, 199}) {
      const auto best = MaximumLikelihoodKeys(kind, 200, ones, 4);
      ASSERT_TRUE(best);
      const auto mass = [&](std::uint64_t n) {
        return Occupancy::OfFilter(kind, 200, n, 4)->Pmf().At(ones);
      };
      const double likelihood = mass(*best);
      EXPECT_GT(likelihood, 0.0);
      for (std::uint64_t n = *best / 2; n <= 2 * *best + 2; ++n) EXPECT_LE(mass(n), likelihood);
    }
  }
}

TEST(MaximumLikelihoodKeys, OfALargeFilterIsFarInsideTheInterval) {
  // The same shares of ones on both sides of the limit, scaled.
  for (const FilterKind kind : kKinds) {
    for (const double fill : {0.1, 0.5, 0.9}) {
      const std::uint64_t small = kMaxExactLikelihoodBits;
      const auto ones = static_cast<std::uint64_t>(fill * static_cast<double>(small));
      const auto exact = MaximumLikelihoodKeys(kind, small, ones, 7);
      const auto moments = EstimateKeys(kind, small, ones, 7, 1.0);
      ASSERT_TRUE(exact && moments);
      EXPECT_NEAR(static_cast<double>(*exact), moments->keys, 2.0);
      const auto large = MaximumLikelihoodKeys(kind, small * 64, ones * 64, 7);
      const auto deviation = EstimateKeys(kind, small * 64, ones * 64, 7, 1.0);
      ASSERT_TRUE(large && deviation);
      EXPECT_NEAR(static_cast<double>(*large), deviation->keys,
                  0.05 * (deviation->interval.high - deviation->keys) + 1.0);
    }
  }
}

// What many estimates of one number of keys have in common.
struct Estimates {
  std::uint64_t count = 0;
  std::uint64_t covered = 0;
  double sum = 0.0;
  double squares = 0.0;
  double width = 0.0;  // of all intervals together

  void Add(const KeyCountEstimate& estimate, double truth) {
    ++count;
    covered += estimate.interval.Contains(truth) ? 1 : 0;
    sum += estimate.keys;
    squares += estimate.keys * estimate.keys;
    width += estimate.interval.high - estimate.interval.low;
  }
  double Mean() const { return sum / static_cast<double>(count); }
  double Deviation() const {
    return std::sqrt(squares / static_cast<double>(count) - Mean() * Mean());
  }
  void ExpectCoverageOf95() const {
    EXPECT_TRUE(WilsonInterval(covered, count, kZ999).Contains(0.95)) << covered;
  }
};

constexpr double kZ95 = 1.959963984540054;

TEST(SharedKeys, AreCoveredAsOftenAsPromised) {
  constexpr std::uint64_t kTrials = 4000;
  constexpr std::uint64_t kBits = 4096;
  constexpr int kProbes = 5;
  const auto ones = [](const FilterBlock& a, const FilterBlock& b) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < kBits / 8; ++i) {
      count += std::bitset<8>(static_cast<unsigned char>(a.data[i] | b.data[i])).count();
    }
    return count;
  };
  for (const std::uint64_t shared : {40, 150, 200}) {
    Estimates estimates;
    for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
      const FilterBlock first = MakeBlock({FilterKind::kStandard, kBits, 300, kProbes}, seed, 0);
      const FilterBlock second =
          MakeBlock({FilterKind::kStandard, kBits, 200, kProbes}, seed, 300 - shared);
      const auto estimate =
          EstimateSharedKeys(FilterKind::kStandard, kBits, ones(first, first), ones(second, second),
                             ones(first, second), kProbes, kZ95);
      ASSERT_TRUE(estimate);
      estimates.Add(*estimate, static_cast<double>(shared));
    }
    estimates.ExpectCoverageOf95();
    EXPECT_NEAR(estimates.Mean(), static_cast<double>(shared),
                kZ999 * estimates.Deviation() / std::sqrt(kTrials) + 0.5);
  }
}

TEST(SharedKeys, OfEqualFiltersAreAllKeys) {
  const auto estimate = EstimateSharedKeys(FilterKind::kClassic, 1000, 400, 400, 400, 7, kZ999);
  ASSERT_TRUE(estimate);
  EXPECT_NEAR(estimate->keys, EstimateKeys(FilterKind::kClassic, 1000, 400, 7, 0.0)->keys, 1e-9);
}

TEST(LineFilters, AreEstimatedAsWellAsPromised) {
  constexpr std::uint64_t kTrials = 300;
  constexpr int kProbes = 6;
  for (const std::size_t lines : {std::size_t{5}, std::size_t{130}}) {
    for (const FilterKind kind : {FilterKind::kStandard, FilterKind::kClassic}) {
      SCOPED_TRACE(lines);
      const std::uint64_t bits = lines * kLineBits;
      const std::size_t keys = 30 * lines;
      Estimates estimates;
      for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
        const FilterBlock block = MakeBlock({{kind, 1}, bits, keys, kProbes}, seed, 0);
        const std::uint64_t ones = BloomFilterView(block.bytes()).CountOnes();
        const auto estimate = EstimateKeys({kind, 1}, bits, ones, kProbes, kZ95);
        ASSERT_TRUE(estimate);
        estimates.Add(*estimate, static_cast<double>(keys));
      }
      estimates.ExpectCoverageOf95();
      EXPECT_NEAR(estimates.Mean() / static_cast<double>(keys), 1.0, 0.01);
      // The deviation of 300 estimates is known to about 4%.
      EXPECT_NEAR(estimates.width / kTrials / (2.0 * kZ95 * estimates.Deviation()), 1.0, 0.15);
    }
  }
}

TEST(EstimateKeys, HasDefinedAnswersAtItsLimits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(EstimateKeys(FilterKind::kClassic, 100, 0, 7, kZ999)->keys, 0.0);
  EXPECT_TRUE(std::isinf(EstimateKeys(FilterKind::kClassic, 100, 100, 7, kZ999)->keys));
  EXPECT_TRUE(std::isinf(EstimateKeys(FilterKind::kClassic, 100, 100, 7, kZ999)->interval.high));
  EXPECT_FALSE(EstimateKeys(FilterKind::kClassic, 100, 101, 7, kZ999));
  EXPECT_FALSE(EstimateKeys(FilterKind::kClassic, 0, 0, 7, kZ999));
  EXPECT_FALSE(EstimateKeys(FilterKind::kClassic, 7, 7, 7, kZ999));
  EXPECT_FALSE(EstimateKeys({FilterKind::kClassic, 1}, 100, 10, 7, kZ999));
  EXPECT_FALSE(EstimateKeys({FilterKind::kClassic, 2}, 2 * kLineBits, 10, 6, kZ999));
  EXPECT_FALSE(EstimateKeys(FilterKind::kClassic, 100, 10, 7, nan));
  EXPECT_FALSE(EstimateKeys(FilterKind::kClassic, 100, 10, 7, -1.0));
  EXPECT_EQ(MaximumLikelihoodKeys(FilterKind::kClassic, 100, 0, 7), 0U);
  EXPECT_FALSE(MaximumLikelihoodKeys(FilterKind::kClassic, 100, 100, 7));
  EXPECT_FALSE(MaximumLikelihoodKeys(FilterKind::kClassic, 100, 6, 7));
  EXPECT_FALSE(EstimateSharedKeys(FilterKind::kClassic, 100, 10, 10, 21, 7, kZ999));
  EXPECT_FALSE(EstimateSharedKeys(FilterKind::kClassic, 100, 10, 20, 19, 7, kZ999));
  EXPECT_FALSE(EstimateSharedKeys(FilterKind::kClassic, 100, 50, 50, 100, 7, kZ999));
}

}  // namespace
}  // namespace exactbloom
