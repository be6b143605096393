// The quick division of bits among the runs of a live tree, against the exact one.
#include "src/analysis/run_division.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/levels.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "tests/filter/sample_filters.h"

namespace exactbloom::analysis {
namespace {

const RateCurve& RibbonCurve() {
  static const RateCurve curve = RateCurve::OfRibbon();
  return curve;
}

double BestRate(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  const int probes = OptimalProbes(layout, bits, keys);
  return probes == 0 ? 1.0 : FalsePositiveRate(layout, bits, keys, probes);
}

// The exact truth of a division: what whole bits and lines of it waste, and take.
struct Truth {
  double wasted_reads = 0.0;
  std::uint64_t bits = 0;
};

class Tree {
 public:
  // With kRibbon the last run, the largest, has a Ribbon filter.
  Tree(Layout layout, const RateCurve& bloom, std::vector<std::uint64_t> keys,
       BottommostFilter bottommost)
      : layout_(layout), bloom_(bloom), keys_(std::move(keys)), bottommost_(bottommost) {}

  std::uint64_t Keys() const {
    return std::accumulate(keys_.begin(), keys_.end(), std::uint64_t{0});
  }

  std::vector<double> Divide(double total_bits) const {
    std::vector<EqualRuns> runs;
    for (const std::uint64_t n : keys_) {
      const auto keys = static_cast<double>(n);
      const bool is_ribbon = IsRibbon(runs.size());
      runs.push_back({keys, 1.0, is_ribbon ? &RibbonCurve() : &bloom_,
                      is_ribbon ? RibbonOverheadOfCurve(keys) : 1.0});
    }
    return DivideAmongRuns(runs, total_bits);
  }

  Truth TruthOf(const std::vector<double>& bits_per_key) const {
    Truth truth;
    for (std::size_t run = 0; run < keys_.size(); ++run) {
      const auto bits =
          static_cast<std::uint64_t>(bits_per_key[run] * static_cast<double>(keys_[run]));
      const std::uint64_t unit = IsRibbon(run) ? 1 : layout_.Granularity();
      const std::uint64_t whole = (bits + unit / 2) / unit * unit;
      truth.bits += whole;
      truth.wasted_reads += IsRibbon(run) ? RibbonFalsePositiveRate(keys_[run], whole)
                                          : BestRate(layout_, whole, keys_[run]);
    }
    return truth;
  }

  double Best(std::uint64_t total_bits) const {
    const auto plan = PlanLevels(layout_, keys_, total_bits, bottommost_);
    EXPECT_TRUE(plan);
    return plan ? plan->wasted_reads : 0.0;
  }

 private:
  bool IsRibbon(std::size_t run) const {
    return bottommost_ == BottommostFilter::kRibbon && run + 1 == keys_.size();
  }

  Layout layout_;
  const RateCurve& bloom_;
  std::vector<std::uint64_t> keys_;
  BottommostFilter bottommost_;
};

// Sizes from 1e3 on, evenly by their logarithm; the last is the largest.
std::vector<std::uint64_t> RandomRuns(std::mt19937_64& random, std::size_t most_runs,
                                      double most_keys) {
  std::uniform_real_distribution<double> exponent(3.0, std::log10(most_keys));
  std::vector<std::uint64_t> keys(2 + random() % (most_runs - 1));
  for (std::uint64_t& n : keys) n = static_cast<std::uint64_t>(std::pow(10.0, exponent(random)));
  std::sort(keys.begin(), keys.end());
  return keys;
}

class RunDivision : public testing::TestWithParam<Layout> {
 protected:
  // Divides among random trees, and compares what the whole bits of the division waste with the
  // exact division of as many.
  void CompareRandomTrees(int trees, std::size_t most_runs, double most_keys) {
    std::mt19937_64 random(16);
    std::uniform_real_distribution<double> average(2.0, 20.0);
    for (const auto bottommost : {BottommostFilter::kBloom, BottommostFilter::kRibbon}) {
      const double most = bottommost == BottommostFilter::kRibbon ? 1.02 : 1.01;
      for (int i = 0; i < trees; ++i) {
        SCOPED_TRACE(i);
        const Tree tree(layout_, bloom_, RandomRuns(random, most_runs, most_keys), bottommost);
        const double bits = average(random) * static_cast<double>(tree.Keys());
        const Truth truth = tree.TruthOf(tree.Divide(bits));
        // Small runs have few lines.
        EXPECT_NEAR(static_cast<double>(truth.bits) / bits, 1.0, 0.005);
        EXPECT_LE(truth.wasted_reads, most * tree.Best(truth.bits));
      }
    }
  }

  Layout layout_ = GetParam();
  RateCurve bloom_ = RateCurve::OfBloom(layout_);
};

INSTANTIATE_TEST_SUITE_P(Layouts, RunDivision, testing::ValuesIn(AllLayouts()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(RunDivision, OfRandomTreesWastesHardlyMoreThanTheExactOne) {
  const bool is_quick = layout_.Lines() == 0;  // the exact rate
  CompareRandomTrees(is_quick ? 8 : 1, is_quick ? 12 : 3, is_quick ? 1e8 : 1e5);
}

// Four runs of 1e5 keys are given as one element.
TEST_P(RunDivision, OfEqualRunsIsThatOfEachByItself) {
  const std::vector<double> together =
      DivideAmongRuns({{1e5, 4.0, &bloom_}, {3e6, 1.0, &bloom_}}, 3e7);
  std::vector<EqualRuns> runs(4, {1e5, 1.0, &bloom_});
  runs.push_back({3e6, 1.0, &bloom_});
  const std::vector<double> apart = DivideAmongRuns(runs, 3e7);
  ASSERT_EQ(together.size(), 2U);
  ASSERT_EQ(apart.size(), 5U);
  for (std::size_t run = 0; run < 4; ++run) EXPECT_NEAR(apart[run], together[0], 1e-6);
  EXPECT_NEAR(apart[4], together[1], 1e-6);
  EXPECT_GT(together[0], together[1] + 1.0);
}

TEST_P(RunDivision, UsesAllBitsBetweenNoneAndTheMost) {
  const std::vector<EqualRuns> runs = {{1e3, 3.0, &bloom_}, {1e5, 1.0, &bloom_}};
  const double keys = 3e3 + 1e5;
  for (const double average : {0.0, 0.01, 0.3, 1.0, 5.0, 50.0, 99.0, 100.0, 1e6}) {
    const std::vector<double> bits = DivideAmongRuns(runs, average * keys);
    double used = 0.0;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      EXPECT_GE(bits[run], 0.0);
      EXPECT_LE(bits[run], kMaxBitsPerKey);
      used += bits[run] * runs[run].keys * runs[run].count;
    }
    // The curve ends in the middle of its last segment.
    const double tolerance = average < 95.0 ? 1.0 : 2.5 * keys;
    EXPECT_NEAR(used, std::min(average, kMaxBitsPerKey) * keys, tolerance) << average;
  }
  EXPECT_TRUE(DivideAmongRuns({}, 100.0).empty());
}

// The rate of a Ribbon filter is linear between whole numbers of bits, where each bit is worth as
// much as the next.
TEST(RunDivisionWithRibbon, UsesAllBitsAtAnyAverage) {
  const RateCurve bloom = RateCurve::OfBloom(FilterKind::kClassic);
  for (double average = 1.0; average < 20.0; average += 0.07) {
    const std::vector<double> bits =
        DivideAmongRuns({{1e4, 1.0, &bloom}, {1e7, 1.0, &RibbonCurve()}}, average * 1.001e7);
    EXPECT_NEAR((bits[0] * 1e4 + bits[1] * 1e7) / 1.001e7, average, 1e-3 * average);
  }
}

TEST(RibbonOverheadOfCurve, RisesWithTheKeysToOne) {
  double last = 0.0;
  for (double keys = 1e3; keys <= 1e9; keys *= 10.0) {
    const double overhead = RibbonOverheadOfCurve(keys);
    EXPECT_GE(overhead, last);
    last = overhead;
  }
  EXPECT_NEAR(last, 1.0, 1e-9);
  EXPECT_GT(RibbonOverheadOfCurve(0.0), 0.0);
}

}  // namespace
}  // namespace exactbloom::analysis
