// The intervals of shared keys hold for simulated filters.
#include "tool/overlap/key_share.h"

#include <gtest/gtest.h>

#include <random>

namespace exactbloom::tool {
namespace {

// A run of so many keys, of which `marked` are in another run; its filters have the rate `rate`.
struct Simulation {
  double keys = 0.0;
  double marked = 0.0;
  double rate = 0.0;

  RunAnswers Run(std::mt19937_64& random) const {
    std::uniform_real_distribution<double> chance;
    RunAnswers answers;
    for (double i = 0.0; i < keys; i += 1.0) answers.Add(i < marked || chance(random) < rate, rate);
    return answers;
  }
};

constexpr int kRuns = 500;

// Wrong in fewer than 0.1% of the runs on average; six of 500 have a probability of 1e-5.
void ExpectRight(const Simulation& simulation) {
  SCOPED_TRACE(::testing::Message()
               << simulation.keys << " " << simulation.marked << " " << simulation.rate);
  std::mt19937_64 random(1);
  int wrong = 0;
  double sum = 0.0;
  for (int i = 0; i < kRuns; ++i) {
    const KeysEstimate estimate = EstimateShared(simulation.Run(random), simulation.keys);
    if (!estimate.interval.Contains(simulation.marked)) ++wrong;
    EXPECT_TRUE(estimate.interval.Contains(estimate.keys));
    sum += estimate.keys;
  }
  EXPECT_LT(wrong, 6);
  EXPECT_NEAR(sum / kRuns, simulation.marked, 0.02 * simulation.keys);
}

TEST(EstimateShared, IsRightForFewAndManySharedKeys) {
  for (const double rate : {0.0, 1e-4, 0.01, 0.4}) {
    for (const double marked : {0.0, 1.0, 30.0, 500.0, 999.0, 1000.0}) {
      ExpectRight({1000.0, marked, rate});
    }
  }
}

TEST(EstimateShared, IsExactWhereNothingIsLeftToChance) {
  std::mt19937_64 random(1);
  const KeysEstimate estimate = EstimateShared(Simulation{1000.0, 300.0, 0.0}.Run(random), 1000.0);
  EXPECT_DOUBLE_EQ(estimate.keys, 300.0);
  EXPECT_DOUBLE_EQ(estimate.interval.low, 300.0);
  EXPECT_DOUBLE_EQ(estimate.interval.high, 300.0);
}

TEST(EstimateShared, NarrowsWithTheRate) {
  const auto width = [](double rate) {
    std::mt19937_64 random(1);
    const KeysEstimate estimate =
        EstimateShared(Simulation{10'000.0, 3000.0, rate}.Run(random), 10'000.0);
    return estimate.interval.high - estimate.interval.low;
  };
  EXPECT_LT(width(1e-4), 0.3 * width(0.01));
  EXPECT_LT(width(0.01), 100.0);
}

// Those that could not be read, and those for which no filter could be asked.
TEST(EstimateShared, CountsOtherKeysAtItsUpperEnd) {
  std::mt19937_64 random(1);
  RunAnswers answers = Simulation{1000.0, 100.0, 0.0}.Run(random);
  answers.unknown = 200.0;
  const KeysEstimate estimate = EstimateShared(answers, 1500.0);
  EXPECT_DOUBLE_EQ(estimate.keys, 100.0);
  EXPECT_DOUBLE_EQ(estimate.interval.low, 100.0);
  EXPECT_DOUBLE_EQ(estimate.interval.high, 800.0);
  EXPECT_EQ(EstimateShared({}, 500.0).interval.high, 500.0);
}

}  // namespace
}  // namespace exactbloom::tool
