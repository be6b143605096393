#include "exactbloom/levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "tests/filter/sample_filters.h"

namespace exactbloom {
namespace {

double BestRate(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  const int probes = OptimalProbes(layout, bits, keys);
  return probes == 0 ? 1.0 : FalsePositiveRate(layout, bits, keys, probes);
}

std::uint64_t BitsOf(const LevelPlan& plan) {
  std::uint64_t bits = 0;
  for (const FilterSize& size : plan.filters) bits += size.bits;
  return bits;
}

// Sizes from 1e3 on, evenly by their logarithm.
std::vector<std::uint64_t> RandomRuns(std::mt19937_64& random, std::size_t most_runs,
                                      double most_keys) {
  std::uniform_real_distribution<double> exponent(3.0, std::log10(most_keys));
  std::vector<std::uint64_t> keys(2 + random() % (most_runs - 1));
  for (std::uint64_t& n : keys) n = static_cast<std::uint64_t>(std::pow(10.0, exponent(random)));
  return keys;
}

class PlanLevelsOf : public testing::TestWithParam<Layout> {
 protected:
  // The sum of the rates after all moves of bits between two filters that lower it, of ever smaller
  // amounts.
  double Improved(const std::vector<std::uint64_t>& keys, const LevelPlan& plan) const {
    std::vector<FilterSize> filters = plan.filters;
    const auto rate = [&](std::size_t run, std::uint64_t bits) {
      return plan.filters[run].probes == 0 ? RibbonFalsePositiveRate(keys[run], bits)
                                           : BestRate(layout_, bits, keys[run]);
    };
    const auto improves = [&](std::size_t from, std::size_t to, std::uint64_t amount) {
      if (filters[from].bits < amount) return false;
      const double less = rate(from, filters[from].bits - amount);
      const double more = rate(to, filters[to].bits + amount);
      if (less + more >= filters[from].false_positive_rate + filters[to].false_positive_rate) {
        return false;
      }
      filters[from] = {filters[from].bits - amount, 0, less};
      filters[to] = {filters[to].bits + amount, 0, more};
      return true;
    };
    for (std::uint64_t steps = BitsOf(plan) / layout_.Granularity() / 8; steps > 0; steps /= 2) {
      for (std::size_t from = 0; from < keys.size(); ++from) {
        for (std::size_t to = 0; to < keys.size(); ++to) {
          while (from != to && improves(from, to, steps * layout_.Granularity())) {
          }
        }
      }
    }
    double sum = 0.0;
    for (const FilterSize& size : filters) sum += size.false_positive_rate;
    return sum;
  }

  const Layout layout_ = GetParam();
};

INSTANTIATE_TEST_SUITE_P(Layouts, PlanLevelsOf, testing::ValuesIn(AllLayouts()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(PlanLevelsOf, RandomTreesIsWithinAFewPercentOfTheBest) {
  const bool is_quick = layout_.Lines() == 0;  // the exact rate
  std::mt19937_64 random(16);
  std::uniform_real_distribution<double> average(2.0, 20.0);
  for (const bool ribbon : {false, true}) {
    for (int i = 0; i < (is_quick ? 4 : 1); ++i) {
      SCOPED_TRACE(i);
      const auto keys = RandomRuns(random, is_quick ? 12 : 3, is_quick ? 1e8 : 1e5);
      double bits = 0.0;
      for (const std::uint64_t n : keys) bits += static_cast<double>(n);
      bits *= average(random);
      const auto plan = PlanLevels(layout_, keys, static_cast<std::uint64_t>(bits), ribbon);
      ASSERT_TRUE(plan);
      // Small runs have few lines.
      EXPECT_LE(static_cast<double>(BitsOf(*plan)), bits);
      EXPECT_GE(static_cast<double>(BitsOf(*plan)), 0.99 * bits);
      EXPECT_LE(plan->wasted_reads, 1.02 * Improved(keys, *plan));
    }
  }
}

TEST(PlanLevels, ReportsTheFiltersThatItCounts) {
  const std::vector<std::uint64_t> keys = {1000, 10'000, 100'000};
  for (const Layout layout : {Layout{FilterKind::kClassic, 0}, Layout{FilterKind::kStandard, 1}}) {
    const auto plan = PlanLevels(layout, keys, 1'110'000);
    ASSERT_TRUE(plan);
    double wasted = 0.0;
    double uniform = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const FilterSize& size = plan->filters[i];
      wasted += size.false_positive_rate;
      uniform += BestRate(layout, keys[i] * 10 / 512 * 512, keys[i]);
      EXPECT_EQ(size.bits % layout.Granularity(), 0U);
      EXPECT_EQ(size.probes, OptimalProbes(layout, size.bits, keys[i]));
      EXPECT_EQ(size.false_positive_rate,
                FalsePositiveRate(layout, size.bits, keys[i], size.probes));
    }
    EXPECT_LE(BitsOf(*plan), 1'110'000U);
    EXPECT_GT(BitsOf(*plan), 1'110'000U - 4 * layout.Granularity());
    EXPECT_EQ(plan->wasted_reads, wasted);
    EXPECT_LT(wasted, 0.6 * uniform);
  }
}

// A hundredth of the keys is 10,000.
TEST(PlanLevels, GivesRibbonFiltersToLargeRuns) {
  const std::vector<std::uint64_t> keys = {9'900, 10'100, 980'000};
  const auto bloom = PlanLevels(FilterKind::kClassic, keys, 10'000'000);
  const auto ribbon = PlanLevels(FilterKind::kClassic, keys, 10'000'000, true);
  ASSERT_TRUE(ribbon);
  EXPECT_LT(ribbon->wasted_reads, 0.3 * bloom->wasted_reads);
  EXPECT_GT(ribbon->filters[0].probes, 0);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    EXPECT_EQ(ribbon->filters[i].probes, 0);
    EXPECT_EQ(ribbon->filters[i].false_positive_rate,
              RibbonFalsePositiveRate(keys[i], ribbon->filters[i].bits));
  }
}

TEST(PlanLevelsForTarget, ReachesTheTargetWithHardlyMoreThanNeeded) {
  const std::vector<std::uint64_t> keys = {500, 5000, 50'000};
  for (const double target : {0.001, 0.1, 1.0, 2.5}) {
    const auto plan = PlanLevelsForTarget(FilterKind::kClassic, keys, target);
    ASSERT_TRUE(plan);
    EXPECT_LE(plan->wasted_reads, target);
    const std::uint64_t bits = BitsOf(*plan);
    const auto less = PlanLevels(FilterKind::kClassic, keys, bits - bits / 256 - 2);
    ASSERT_TRUE(less);
    EXPECT_GT(less->wasted_reads, target);
  }
}

// The share of bits_per_key that a tree of `levels` levels takes. Levels are counted from the
// bottommost; all but it may be taken for `hidden` levels higher than they are.
double MemoryOf(const std::vector<LevelFilter>& filters, double size_ratio, std::size_t levels,
                std::size_t hidden) {
  double memory = 0.0;
  double keys = 0.0;
  for (std::size_t d = 0; d < levels; ++d) {
    const double share = std::pow(size_ratio, -static_cast<double>(d));
    keys += share;
    memory += share * filters[std::min(d == 0 ? 0 : d + hidden, filters.size() - 1)].bits_per_key;
  }
  return memory / keys;
}

TEST(GeometricLevelBits, NoTreeTakesMoreThanItMay) {
  for (const bool ribbon : {false, true}) {
    for (const double ratio : {1.2, 3.0, 10.0, 1000.0}) {
      for (const double wanted : {0.3, 1.0, 10.0}) {
        const auto filters = GeometricLevelBits(FilterKind::kClassic, ratio, wanted, ribbon);
        ASSERT_GE(filters.size(), 3U);
        for (std::size_t levels = 1; levels <= 6; ++levels) {
          for (const std::size_t hidden : {0U, 1U, 5U}) {
            SCOPED_TRACE(::testing::Message()
                         << ratio << " " << wanted << " " << levels << " " << hidden);
            const double memory = MemoryOf(filters, ratio, levels, hidden);
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

// Within a few per cent of the plan that knows the tree. With Ribbon filters it is a quarter, since
// the limit on the small levels costs more where the large ones waste less.
TEST(GeometricLevelBits, LosesLittleAgainstAPlanOfTheTree) {
  const std::vector<std::uint64_t> keys = {1'000, 10'000, 100'000, 1'000'000, 10'000'000};
  for (const bool ribbon : {false, true}) {
    const auto filters = GeometricLevelBits(FilterKind::kClassic, 10.0, 10.0, ribbon);
    double wasted = 0.0;
    std::uint64_t total = 0;
    for (std::size_t run = 0; run < keys.size(); ++run) {
      const LevelFilter& filter = filters[std::min(keys.size() - 1 - run, filters.size() - 1)];
      EXPECT_EQ(filter.ribbon, ribbon && keys[run] >= 1'000'000);
      const auto m =
          static_cast<std::uint64_t>(filter.bits_per_key * static_cast<double>(keys[run]));
      total += m;
      wasted += filter.ribbon ? RibbonFalsePositiveRate(keys[run], m)
                              : BestRate(FilterKind::kClassic, m, keys[run]);
    }
    const auto plan = PlanLevels(FilterKind::kClassic, keys, total, ribbon);
    ASSERT_TRUE(plan);
    EXPECT_LT(wasted, (ribbon ? 1.3 : 1.08) * plan->wasted_reads);
    EXPECT_GE(wasted, plan->wasted_reads * 0.99);
  }
}

TEST(GeometricLevelBits, LeavesTheBottommostWithoutAFilterWhenThatIsBest) {
  const auto filters = GeometricLevelBits(FilterKind::kClassic, 10.0, 0.3);
  EXPECT_EQ(filters[0].bits_per_key, 0.0);
  EXPECT_GT(filters[1].bits_per_key, 2.0);
  for (const LevelFilter& filter : GeometricLevelBits(FilterKind::kClassic, 10.0, 0.0)) {
    EXPECT_EQ(filter.bits_per_key, 0.0);
  }
}

TEST(GeometricLevelBits, CutsAtTheMostBitsPerKey) {
  const auto filters = GeometricLevelBits(FilterKind::kClassic, 1000.0, 70.0);
  EXPECT_LT(filters[0].bits_per_key, 100.0);
  EXPECT_NEAR(filters.back().bits_per_key, 100.0, 1e-9);
}

TEST(Levels, AnswerNonsenseWithNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {}, 100));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {1, 0}, 100));
  EXPECT_FALSE(PlanLevels({FilterKind::kClassic, 3}, {1}, 100));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {1}, (std::uint64_t{1} << 53) + 1));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, std::vector<std::uint64_t>(65, 1), 100));
  for (const double target : {0.0, -1.0, 2.0, nan, 1e-300}) {
    EXPECT_FALSE(PlanLevelsForTarget(FilterKind::kClassic, {10, 100}, target));
  }
  for (const double ratio : {1.0, 0.0, 1001.0, nan}) {
    EXPECT_TRUE(GeometricLevelBits(FilterKind::kClassic, ratio, 10.0).empty());
  }
  EXPECT_TRUE(GeometricLevelBits(FilterKind::kClassic, 10.0, 101.0).empty());
  EXPECT_TRUE(GeometricLevelBits({FilterKind::kClassic, 3}, 10.0, 10.0).empty());
}

}  // namespace
}  // namespace exactbloom
