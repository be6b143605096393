#include "exactbloom/levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "exactbloom/false_positive_rate.h"
#include "src/analysis/run_division.h"
#include "tests/filter/sample_filters.h"

namespace exactbloom {
namespace {

double BestRate(FilterKind kind, std::uint64_t bits, std::uint64_t keys) {
  const int probes = OptimalProbes(kind, bits, keys);
  return probes == 0 ? 1.0 : FalsePositiveRate(kind, bits, keys, probes);
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

class PlanLevelsOf : public testing::TestWithParam<FilterKind> {
 protected:
  // The sum of the rates after all moves of bits between two filters that lower it, of ever smaller
  // amounts.
  double Improved(const std::vector<std::uint64_t>& keys, const LevelPlan& plan,
                  bool ribbon) const {
    std::vector<FilterSize> filters = plan.filters;
    const auto rate = [&](std::size_t run, std::uint64_t bits) {
      const double bits_per_key = static_cast<double>(bits) / static_cast<double>(keys[run]);
      return ribbon ? analysis::LargeRibbonRate(bits_per_key) : BestRate(kind_, bits, keys[run]);
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
    for (std::uint64_t steps = BitsOf(plan) / 8; steps > 0; steps /= 2) {
      for (std::size_t from = 0; from < keys.size(); ++from) {
        for (std::size_t to = 0; to < keys.size(); ++to) {
          while (from != to && improves(from, to, steps)) {
          }
        }
      }
    }
    double sum = 0.0;
    for (const FilterSize& size : filters) sum += size.false_positive_rate;
    return sum;
  }

  const FilterKind kind_ = GetParam();
};

INSTANTIATE_TEST_SUITE_P(Kinds, PlanLevelsOf, testing::ValuesIn(AllKinds()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(PlanLevelsOf, RandomTreesIsWithinAFewPercentOfTheBest) {
  std::mt19937_64 random(16);
  std::uniform_real_distribution<double> average(2.0, 20.0);
  for (const bool ribbon : {false, true}) {
    for (int i = 0; i < 4; ++i) {
      SCOPED_TRACE(i);
      const auto keys = RandomRuns(random, 12, 1e8);
      double bits = 0.0;
      for (const std::uint64_t n : keys) bits += static_cast<double>(n);
      bits *= average(random);
      const auto plan = PlanLevels(kind_, keys, static_cast<std::uint64_t>(bits), ribbon);
      ASSERT_TRUE(plan);
      EXPECT_LE(static_cast<double>(BitsOf(*plan)), bits);
      EXPECT_GE(static_cast<double>(BitsOf(*plan)), 0.99 * bits);
      EXPECT_LE(plan->wasted_reads, 1.02 * Improved(keys, *plan, ribbon));
    }
  }
}

TEST(PlanLevels, ReportsTheFiltersThatItCounts) {
  const std::vector<std::uint64_t> keys = {1000, 10'000, 100'000};
  for (const FilterKind kind : AllKinds()) {
    const auto plan = PlanLevels(kind, keys, 1'110'000);
    ASSERT_TRUE(plan);
    double wasted = 0.0;
    double uniform = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const FilterSize& size = plan->filters[i];
      wasted += size.false_positive_rate;
      uniform += BestRate(kind, keys[i] * 10, keys[i]);
      EXPECT_EQ(size.probes, OptimalProbes(kind, size.bits, keys[i]));
      EXPECT_EQ(size.false_positive_rate, FalsePositiveRate(kind, size.bits, keys[i], size.probes));
    }
    EXPECT_LE(BitsOf(*plan), 1'110'000U);
    EXPECT_GT(BitsOf(*plan), 1'110'000U - 4);
    EXPECT_EQ(plan->wasted_reads, wasted);
    EXPECT_LT(wasted, 0.6 * uniform);
  }
}

TEST(PlanLevels, GivesRibbonFiltersToAllRuns) {
  const std::vector<std::uint64_t> keys = {9'000, 12'000, 979'000};
  const auto bloom = PlanLevels(FilterKind::kClassic, keys, 10'000'000);
  const auto ribbon = PlanLevels(FilterKind::kClassic, keys, 10'000'000, true);
  ASSERT_TRUE(ribbon);
  EXPECT_LT(ribbon->wasted_reads, 0.3 * bloom->wasted_reads);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const FilterSize& filter = ribbon->filters[i];
    EXPECT_EQ(filter.probes, 0);
    const double bits_per_key = static_cast<double>(filter.bits) / static_cast<double>(keys[i]);
    EXPECT_NEAR(filter.false_positive_rate, analysis::LargeRibbonRate(bits_per_key),
                0.001 * filter.false_positive_rate);
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

TEST(Levels, AnswerNonsenseWithNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {}, 100));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {1, 0}, 100));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, {1}, (std::uint64_t{1} << 53) + 1));
  EXPECT_FALSE(PlanLevels(FilterKind::kClassic, std::vector<std::uint64_t>(65, 1), 100));
  for (const double target : {0.0, -1.0, 2.0, nan, 1e-300}) {
    EXPECT_FALSE(PlanLevelsForTarget(FilterKind::kClassic, {10, 100}, target));
  }
}

}  // namespace
}  // namespace exactbloom
