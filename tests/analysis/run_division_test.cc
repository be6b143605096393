// The division of bits among runs.
#include "src/analysis/run_division.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/layout.h"
#include "tests/filter/sample_filters.h"

namespace exactbloom::analysis {
namespace {

class RunDivisionOf : public testing::TestWithParam<BloomKind> {
 protected:
  double Rate(const EqualRuns& run, double bits_per_key) const {
    if (run.ribbon) return LargeRibbonRate(bits_per_key);
    const auto keys = static_cast<std::uint64_t>(run.keys);
    const auto bits = static_cast<std::uint64_t>(bits_per_key * run.keys);
    const int probes = OptimalProbes(GetParam(), bits, keys);
    return probes == 0 ? 1.0 : FalsePositiveRate(GetParam(), bits, keys, probes);
  }

  double Wasted(const std::vector<EqualRuns>& runs, const std::vector<double>& bits_per_key) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < runs.size(); ++i) sum += Rate(runs[i], bits_per_key[i]);
    return sum;
  }

  // The sum of the rates after all moves of bits between two filters that lower it, of ever smaller
  // amounts down to one bit.
  double Improved(const std::vector<EqualRuns>& runs, std::vector<double> bits_per_key) const {
    const auto improves = [&](std::size_t from, std::size_t to, double amount) {
      const double less = bits_per_key[from] - amount / runs[from].keys;
      const double more = bits_per_key[to] + amount / runs[to].keys;
      if (less < 0.0) return false;
      const double before = Rate(runs[from], bits_per_key[from]) + Rate(runs[to], bits_per_key[to]);
      if (Rate(runs[from], less) + Rate(runs[to], more) >= before) return false;
      bits_per_key[from] = less;
      bits_per_key[to] = more;
      return true;
    };
    for (double amount = 1e9; amount >= 1.0; amount /= 2.0) {
      for (std::size_t from = 0; from < runs.size(); ++from) {
        for (std::size_t to = 0; to < runs.size(); ++to) {
          while (from != to && improves(from, to, amount)) {
          }
        }
      }
    }
    return Wasted(runs, bits_per_key);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, RunDivisionOf, testing::ValuesIn(BloomKinds()),
                         [](const auto& test) { return NameOf(test.param); });

// Up to twelve runs of a thousand to 1e8 keys, evenly by their logarithm.
TEST_P(RunDivisionOf, RandomTreesIsWithinAFewPercentOfTheBest) {
  std::mt19937_64 random(16);
  std::uniform_real_distribution<double> exponent(3.0, 8.0);
  std::uniform_real_distribution<double> average(2.0, 20.0);
  for (const bool ribbon : {false, true}) {
    for (int i = 0; i < 4; ++i) {
      SCOPED_TRACE(i);
      std::vector<EqualRuns> runs(2 + random() % 11);
      double keys = 0.0;
      for (EqualRuns& run : runs) {
        run = {std::floor(std::pow(10.0, exponent(random))), 1.0, ribbon};
        keys += run.keys;
      }
      const std::vector<double> bits = DivideAmongRuns(runs, average(random) * keys);
      EXPECT_LE(Wasted(runs, bits), 1.02 * Improved(runs, bits));
    }
  }
}

// Four runs of 1e5 keys are given as one element.
TEST(RunDivision, OfEqualRunsIsThatOfEachByItself) {
  const EqualRuns one = {1e5};
  const std::vector<double> together = DivideAmongRuns({{1e5, 4.0}, {3e6}}, 3e7);
  const std::vector<double> apart = DivideAmongRuns({one, one, one, one, {3e6}}, 3e7);
  ASSERT_EQ(together.size(), 2U);
  ASSERT_EQ(apart.size(), 5U);
  for (std::size_t run = 0; run < 4; ++run) EXPECT_NEAR(apart[run], together[0], 1e-6);
  EXPECT_NEAR(apart[4], together[1], 1e-6);
  EXPECT_GT(together[0], together[1] + 1.0);
}

// The rate of a Ribbon filter is linear between whole numbers of bits, where each bit is worth as
// much as the next, and ends at kMaxRibbonBitsPerKey.
TEST(RunDivision, UsesAllBitsBetweenNoneAndTheMost) {
  for (const bool ribbon : {false, true}) {
    const std::vector<EqualRuns> runs = {{1e3, 3.0}, {1e5, 1.0, ribbon}};
    const double keys = 3e3 + 1e5;
    for (int step = 0; step < 1200; step += step < 200 ? 1 : 50) {
      const double average = 0.1 * step;
      const std::vector<double> bits = DivideAmongRuns(runs, average * keys);
      double used = 0.0;
      for (std::size_t run = 0; run < runs.size(); ++run) {
        EXPECT_GE(bits[run], 0.0);
        EXPECT_LE(bits[run], runs[run].ribbon ? kMaxRibbonBitsPerKey : kMaxBitsPerKey);
        used += bits[run] * runs[run].keys * runs[run].count;
      }
      const double most = ribbon ? kMaxRibbonBitsPerKey : kMaxBitsPerKey;
      if (average <= most) {
        EXPECT_NEAR(used, average * keys, 1.0) << average;
      } else {
        EXPECT_GE(used, (most - 1e-6) * keys);
      }
    }
  }
  EXPECT_TRUE(DivideAmongRuns({}, 100.0).empty());
}

TEST(LargeRibbonRate, IsThatOfAMillionKeys) {
  for (double bits_per_key = 1.0; bits_per_key <= kMaxRibbonBitsPerKey; bits_per_key += 0.1) {
    FilterOptions options;
    options.bits_per_key = bits_per_key;
    const FilterBuilder builder = *FilterBuilder::Create(options);
    for (const std::uint64_t keys : {1'000'000U, 100'000'000U}) {
      const double rate = builder.Plan(keys).FalsePositiveRate();
      EXPECT_NEAR(LargeRibbonRate(bits_per_key), rate, 0.002 * rate) << bits_per_key;
    }
    const double of_few = builder.Plan(20'000).FalsePositiveRate();
    EXPECT_GE(of_few, LargeRibbonRate(bits_per_key));
    EXPECT_LE(of_few, 1.06 * LargeRibbonRate(bits_per_key)) << bits_per_key;
  }
}

}  // namespace
}  // namespace exactbloom::analysis
