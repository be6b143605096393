#include "exactbloom/levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"

namespace exactbloom {
namespace {

double BestRate(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  const int probes = OptimalProbes(layout, bits, keys);
  return probes == 0 ? 1.0 : FalsePositiveRate(layout, bits, keys, probes);
}

TEST(PlanLevels, IsWithinAThousandthOfTheBestDivisionOfMoreMemory) {
  for (const std::uint64_t total : {600, 1000, 3000}) {
    const std::vector<std::uint64_t> keys = {20, 130};
    double best = std::numeric_limits<double>::infinity();
    for (std::uint64_t a = 0; a <= total; ++a) {
      best = std::min(best, BestRate(FilterKind::kClassic, a, keys[0]) +
                                BestRate(FilterKind::kClassic, total - a, keys[1]));
    }
    const auto plan = PlanLevels(FilterKind::kClassic, keys, total);
    ASSERT_TRUE(plan);
    EXPECT_GE(plan->wasted_reads / best, 1.0 - 1e-9);
    EXPECT_LE(plan->wasted_reads / best, 1.001) << total;
  }
}

TEST(PlanLevels, ReportsTheFiltersThatItCounts) {
  const std::vector<std::uint64_t> keys = {1000, 10'000, 100'000};
  for (const Layout layout : {Layout{FilterKind::kClassic, 0}, Layout{FilterKind::kStandard, 1}}) {
    const auto plan = PlanLevels(layout, keys, 1'110'000);
    ASSERT_TRUE(plan);
    std::uint64_t bits = 0;
    double wasted = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const FilterSize& size = plan->filters[i];
      bits += size.bits;
      wasted += size.false_positive_rate;
      EXPECT_EQ(size.false_positive_rate,
                FalsePositiveRate(layout, size.bits, keys[i], size.probes));
    }
    EXPECT_LE(bits, 1'110'000U);
    EXPECT_GT(bits, 1'110'000U - 2 * layout.Granularity());
    EXPECT_EQ(plan->wasted_reads, wasted);
    // At least as good as the same bits per key everywhere, and here much better.
    double uniform = 0.0;
    for (const std::uint64_t n : keys) uniform += BestRate(layout, n * 10 / 512 * 512, n);
    EXPECT_LT(wasted, 0.6 * uniform);
  }
}

TEST(PlanLevels, TendsToMonkeysRule) {
  const auto plan = PlanLevels(FilterKind::kClassic, {100'000, 1'000'000, 10'000'000}, 111'000'000);
  ASSERT_TRUE(plan);
  const std::vector<double> monkey = MonkeyBitsPerKey(3, 10.0, 10.0);
  const double sizes[] = {1e5, 1e6, 1e7};
  for (std::size_t i = 0; i < 3; ++i) {
    // k is whole, but the rule treats it as a real number, which moves the smaller levels by up to
    // a bit.
    EXPECT_NEAR(static_cast<double>(plan->filters[i].bits) / sizes[i], monkey[i], 0.7);
  }
}

TEST(PlanLevelsForTarget, ReachesTheTargetWithHardlyMoreThanNeeded) {
  const std::vector<std::uint64_t> keys = {500, 5000, 50'000};
  for (const double target : {0.001, 0.1, 1.0, 2.5}) {
    const auto plan = PlanLevelsForTarget(FilterKind::kClassic, keys, target);
    ASSERT_TRUE(plan);
    EXPECT_LE(plan->wasted_reads, target);
    std::uint64_t bits = 0;
    for (const FilterSize& size : plan->filters) bits += size.bits;
    const auto less = PlanLevels(FilterKind::kClassic, keys, bits - bits / 256 - 2);
    ASSERT_TRUE(less);
    EXPECT_GT(less->wasted_reads, target);
  }
}

TEST(MonkeyBitsPerKey, DiffersByItsConstantFromLevelToLevel) {
  const std::vector<double> bits = MonkeyBitsPerKey(4, 10.0, 10.0);
  ASSERT_EQ(bits.size(), 4U);
  for (std::size_t i = 0; i + 1 < 4; ++i) EXPECT_NEAR(bits[i] - bits[i + 1], 4.79, 0.005);
  const double sizes[] = {1, 10, 100, 1000};
  double total = 0.0;
  for (std::size_t i = 0; i < 4; ++i) total += bits[i] * sizes[i];
  EXPECT_NEAR(total, 10.0 * 1111.0, 1e-6);
}

TEST(MonkeyBitsPerKey, LeavesLevelsWithoutFilterRatherThanInDebt) {
  const std::vector<double> bits = MonkeyBitsPerKey(3, 10.0, 0.2);
  EXPECT_EQ(bits[2], 0.0);
  EXPECT_NEAR(bits[0] * 1 + bits[1] * 10, 0.2 * 111, 1e-9);
  EXPECT_EQ(MonkeyBitsPerKey(2, 10.0, 0.0), std::vector<double>(2, 0.0));
}

// The rate of a Ribbon filter falls faster with its bits, so it takes fewer bits and leaves more to
// the other runs.
TEST(PlanLevels, KnowsARibbonFilterInTheLastRun) {
  const std::vector<std::uint64_t> keys = {10'000, 100'000, 1'000'000};
  const auto bloom = PlanLevels(FilterKind::kClassic, keys, 11'100'000);
  const auto ribbon = PlanLevels(FilterKind::kClassic, keys, 11'100'000, BottommostFilter::kRibbon);
  ASSERT_TRUE(ribbon);
  EXPECT_LT(ribbon->wasted_reads, 0.3 * bloom->wasted_reads);
  EXPECT_LT(ribbon->filters[2].bits, bloom->filters[2].bits);
  EXPECT_EQ(ribbon->filters[2].probes, 0);
  EXPECT_EQ(ribbon->filters[2].false_positive_rate,
            RibbonFalsePositiveRate(keys[2], ribbon->filters[2].bits));
  // No division nearby is better.
  for (const std::int64_t moved : {-20'000, -2'000, 2'000, 20'000}) {
    const auto less =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(ribbon->filters[2].bits) - moved);
    const auto more =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(ribbon->filters[1].bits) + moved);
    EXPECT_GT(
        RibbonFalsePositiveRate(keys[2], less) + BestRate(FilterKind::kClassic, more, keys[1]),
        ribbon->filters[2].false_positive_rate + ribbon->filters[1].false_positive_rate)
        << moved;
  }
}

// The share of bits_per_key that a tree of `levels` levels takes. Levels are counted from the
// bottommost; all but it may be taken for `hidden` levels higher than they are.
double MemoryOf(const std::vector<double>& bits, double size_ratio, std::size_t levels,
                std::size_t hidden) {
  double memory = 0.0;
  double keys = 0.0;
  for (std::size_t d = 0; d < levels; ++d) {
    const double share = std::pow(size_ratio, -static_cast<double>(d));
    keys += share;
    memory += share * bits[std::min(d == 0 ? 0 : d + hidden, bits.size() - 1)];
  }
  return memory / keys;
}

TEST(GeometricLevelBits, NoTreeTakesMoreThanItMay) {
  for (const BottommostFilter bottommost : {BottommostFilter::kBloom, BottommostFilter::kRibbon}) {
    for (const double ratio : {1.2, 3.0, 10.0, 1000.0}) {
      for (const double wanted : {0.3, 1.0, 10.0}) {
        const std::vector<double> bits =
            GeometricLevelBits(FilterKind::kClassic, ratio, wanted, bottommost);
        ASSERT_GE(bits.size(), 3U);
        for (std::size_t levels = 1; levels <= 6; ++levels) {
          for (const std::size_t hidden : {0, 1, 5}) {
            SCOPED_TRACE(::testing::Message()
                         << ratio << " " << wanted << " " << levels << " " << hidden);
            const double memory = MemoryOf(bits, ratio, levels, hidden);
            EXPECT_LE(memory, wanted * (1.0 + kLevelBitsTolerance + 1e-9));
            if (ratio >= 3.0 && wanted >= 10.0 && levels >= 3) {
              EXPECT_GE(memory, wanted * 0.97);
            }
          }
        }
      }
    }
  }
}

// Within a few per cent of the plan that knows the tree.
TEST(GeometricLevelBits, LosesLittleAgainstAPlanOfTheTree) {
  const std::vector<std::uint64_t> keys = {1'000, 10'000, 100'000, 1'000'000, 10'000'000};
  for (const Layout layout : {Layout{FilterKind::kClassic, 0}, Layout{FilterKind::kClassic, 1}}) {
    const std::vector<double> bits = GeometricLevelBits(layout, 10.0, 10.0);
    double wasted = 0.0;
    std::uint64_t total = 0;
    for (std::size_t run = 0; run < keys.size(); ++run) {
      const std::size_t distance = std::min(keys.size() - 1 - run, bits.size() - 1);
      const auto m = static_cast<std::uint64_t>(bits[distance] * static_cast<double>(keys[run])) /
                     kLineBits * kLineBits;
      total += m;
      wasted += BestRate(layout, m, keys[run]);
    }
    const auto plan = PlanLevels(layout, keys, total);
    ASSERT_TRUE(plan);
    EXPECT_LT(wasted, 1.08 * plan->wasted_reads);
    EXPECT_GE(wasted, plan->wasted_reads * 0.999);
  }
}

TEST(GeometricLevelBits, LeavesTheBottommostWithoutAFilterWhenThatIsBest) {
  const std::vector<double> bits = GeometricLevelBits(FilterKind::kClassic, 10.0, 0.3);
  EXPECT_EQ(bits[0], 0.0);
  EXPECT_GT(bits[1], 2.0);
  EXPECT_EQ(GeometricLevelBits(FilterKind::kClassic, 10.0, 0.0), std::vector<double>(4, 0.0));
}

TEST(GeometricLevelBits, CutsAtTheMostBitsPerKey) {
  const std::vector<double> bits = GeometricLevelBits(FilterKind::kClassic, 10.0, 99.0);
  EXPECT_LT(bits[0], 100.0);
  EXPECT_EQ(bits[1], 100.0);
}

TEST(Levels, AnswerNonsenseWithNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {}, 100));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {1, 0}, 100));
  EXPECT_FALSE(PlanLevels({FilterKind::kClassic, 3}, {1}, 100));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {1}, (std::uint64_t{1} << 53) + 1));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, std::vector<std::uint64_t>(65, 1), 100));
  for (const double target : {0.0, -1.0, 2.0, nan}) {
    EXPECT_FALSE(PlanLevelsForTarget(FilterKind::kClassic, {10, 100}, target));
  }
  EXPECT_TRUE(MonkeyBitsPerKey(0, 10.0, 10.0).empty());
  EXPECT_TRUE(MonkeyBitsPerKey(3, 1.0, 10.0).empty());
  EXPECT_TRUE(MonkeyBitsPerKey(3, nan, 10.0).empty());
  EXPECT_TRUE(MonkeyBitsPerKey(3, 10.0, -1.0).empty());
  for (const double ratio : {1.0, 0.0, 1001.0, nan}) {
    EXPECT_TRUE(GeometricLevelBits(FilterKind::kClassic, ratio, 10.0).empty());
  }
  EXPECT_TRUE(GeometricLevelBits(FilterKind::kClassic, 10.0, 101.0).empty());
  EXPECT_TRUE(GeometricLevelBits({FilterKind::kClassic, 3}, 10.0, 10.0).empty());
}

}  // namespace
}  // namespace exactbloom
