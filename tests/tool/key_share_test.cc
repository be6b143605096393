// The intervals of shared keys hold for simulated filters, and narrow as keys are read.
#include "tool/overlap/key_share.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace exactbloom::tool {
namespace {

// Tables of so many keys each, of which `marked` have theirs in another run; each key is drawn with
// the probability `drawn`, and the filter has the rate `rate`.
struct Simulation {
  std::uint64_t tables = 1;
  double keys = 0.0;
  double marked = 0.0;
  double drawn = 1.0;
  double rate = 0.0;

  TableAnswers Table(std::mt19937_64& random) const {
    std::uniform_real_distribution<double> chance;
    TableAnswers answers;
    answers.keys = keys;
    for (double i = 0.0; i < keys; i += 1.0) {
      const bool passes = i < marked || chance(random) < rate;
      if (chance(random) < drawn) answers.Add(passes, rate);
    }
    return answers;
  }
};

constexpr int kRuns = 500;

// Wrong in fewer than 0.1% of the runs on average; six of 500 have a probability of 1e-5.
void ExpectRight(const Simulation& simulation) {
  SCOPED_TRACE(::testing::Message() << simulation.keys << " " << simulation.marked << " "
                                    << simulation.drawn << " " << simulation.rate);
  std::mt19937_64 random(1);
  int wrong = 0;
  double sum = 0.0;
  for (int i = 0; i < kRuns; ++i) {
    const KeysEstimate estimate =
        EstimateSharedOf({simulation.Table(random)}, 1.0, simulation.keys);
    if (!estimate.interval.Contains(simulation.marked)) ++wrong;
    EXPECT_TRUE(estimate.interval.Contains(estimate.keys));
    sum += estimate.keys;
  }
  EXPECT_LT(wrong, 6);
  if (simulation.drawn < 0.5) return;  // fewer are often cut at zero, which moves their mean
  EXPECT_NEAR(sum / kRuns, simulation.marked, 0.02 * simulation.keys);
}

TEST(EstimateSharedOf, IsRightForFewAndManySharedKeys) {
  for (const double rate : {0.0, 1e-4, 0.01, 0.4}) {
    for (const double drawn : {1.0, 0.5, 0.05}) {
      for (const double marked : {0.0, 1.0, 30.0, 500.0, 999.0, 1000.0}) {
        ExpectRight({1, 1000.0, marked, drawn, rate});
      }
    }
  }
}

TEST(EstimateSharedOf, IsExactWhereNothingIsLeftToChance) {
  std::mt19937_64 random(1);
  const Simulation all = {1, 1000.0, 300.0, 1.0, 0.0};
  const KeysEstimate estimate = EstimateSharedOf({all.Table(random)}, 1.0, 1000.0);
  EXPECT_DOUBLE_EQ(estimate.keys, 300.0);
  EXPECT_DOUBLE_EQ(estimate.interval.low, 300.0);
  EXPECT_DOUBLE_EQ(estimate.interval.high, 300.0);
}

TEST(EstimateSharedOf, NarrowsWithTheSampleAndTheRate) {
  const auto width = [](double drawn, double rate) {
    std::mt19937_64 random(1);
    const Simulation some = {1, 10'000.0, 3000.0, drawn, rate};
    const KeysEstimate estimate = EstimateSharedOf({some.Table(random)}, 1.0, 10'000.0);
    return estimate.interval.high - estimate.interval.low;
  };
  EXPECT_LT(width(1.0, 0.01), 0.2 * width(0.1, 0.01));
  EXPECT_LT(width(1.0, 1e-4), 0.3 * width(1.0, 0.01));
  EXPECT_LT(width(1.0, 0.01), 100.0);
}

TEST(EstimateSharedOf, CountsUnknownKeysAtItsUpperEnd) {
  std::mt19937_64 random(1);
  TableAnswers answers = Simulation{1, 1000.0, 100.0, 1.0, 0.0}.Table(random);
  answers.unknown = 200.0;
  const KeysEstimate estimate = EstimateSharedOf({answers}, 1.0, 1000.0);
  EXPECT_DOUBLE_EQ(estimate.keys, 100.0);
  EXPECT_DOUBLE_EQ(estimate.interval.low, 100.0);
  EXPECT_DOUBLE_EQ(estimate.interval.high, 300.0);
}

// Sixteen of 64 tables are read. In every second one all keys are shared, or half of the keys of
// each table.
TEST(EstimateSharedOf, AllowsForTablesThatWereNotRead) {
  const auto estimate = [](bool alike) {
    std::mt19937_64 random(1);
    std::vector<TableAnswers> drawn;
    for (int i = 0; i < 16; ++i) {
      const double marked = alike ? 500.0 : 1000.0 * (i % 2);
      drawn.push_back(Simulation{1, 1000.0, marked, 1.0, 0.0}.Table(random));
    }
    return EstimateSharedOf(drawn, 64.0, 64'000.0);
  };
  const Interval alike = estimate(true).interval;
  EXPECT_NEAR(alike.high - alike.low, 0.0, 1e-6);
  EXPECT_TRUE(alike.Contains(32'000.0));
  // Student's t of 15 degrees, 4.073, times the deviation of the mean, .129 sqrt(1 - 16/64).
  const Interval unlike = estimate(false).interval;
  EXPECT_NEAR(unlike.high, 64'000.0 * (0.5 + 4.073 * 0.1118), 64.0);
  EXPECT_NEAR(unlike.low, 64'000.0 * (0.5 - 4.073 * 0.1118), 64.0);
}

TEST(EstimateSharedOf, KnowsNothingOfTablesThatItHasNotSeen) {
  EXPECT_EQ(EstimateSharedOf({}, 3.0, 500.0).interval.high, 500.0);
  std::mt19937_64 random(1);
  const std::vector<TableAnswers> few(kFewestTables - 1,
                                      Simulation{1, 100.0, 0.0, 1.0, 0.0}.Table(random));
  const KeysEstimate estimate = EstimateSharedOf(few, 100.0, 10'000.0);
  EXPECT_EQ(estimate.interval.low, 0.0);
  EXPECT_EQ(estimate.interval.high, 10'000.0);
}

}  // namespace
}  // namespace exactbloom::tool
