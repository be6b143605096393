// The search for the best setting, against all settings of a small grid.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "plugin/policy_options.h"
#include "tool/advise/setting_search.h"

namespace exactbloom::tool {
namespace {

const LookupCosts kCosts = FixedCosts(100e3);

Tree TreeOf(const std::vector<std::uint64_t>& keys, int first_level = 1) {
  Tree tree;
  tree.column_family = "default";
  for (const std::uint64_t n : keys) {
    TreeLevel& level = tree.levels.emplace_back();
    level.level = first_level++;
    level.wasted_reads = 1.0;
    const bool is_deepest = tree.levels.size() == keys.size();
    level.Add({n, 0, is_deepest, 1.0});
  }
  tree.levels.back().deepest = true;
  return tree;
}

Tree ThreeLevels() { return TreeOf({1000, 10'000, 100'000}); }

// At 10 bits per key. Worked out once.
const std::vector<Candidate>& OfThreeLevels() {
  static const auto& candidates = *new std::vector<Candidate>(FindCandidates(
      ThreeLevels(), {Goal::kMemory, static_cast<double>(ThreeLevels().Keys()) * 10 / 8}, kCosts));
  return candidates;
}

Constraint Memory(const Tree& tree, double bits_per_key) {
  return {Goal::kMemory, static_cast<double>(tree.Keys()) * bits_per_key / 8.0};
}

// The least wasted reads of all divisions of the memory in steps of a bit per key, and of a tenth
// in the largest level.
double LeastWastedReads(const Tree& tree, double bytes, BottommostFilter bottommost) {
  double least = std::numeric_limits<double>::infinity();
  BloomFilterPolicyOptions options;
  options.bottommost = bottommost;
  for (double first = 10; first <= 26; first += 1.0) {
    for (double second = 8; second <= 22; second += 1.0) {
      for (double third = 8.5; third <= 10.5; third += 0.1) {
        options.level_bits = {first, first, second, third};
        const TreeFilters filters = FiltersOf(WithFiltersOf(options, tree), kCosts);
        if (static_cast<double>(filters.bytes) > bytes) break;
        least = std::min(least, filters.wasted_reads);
      }
    }
  }
  return least;
}

TEST(SettingSearch, FindsWhatAGridOfAllDivisionsHasBest) {
  const Tree tree = ThreeLevels();
  const Constraint constraint = Memory(tree, 10);
  const std::vector<Candidate>& candidates = OfThreeLevels();
  for (const BottommostFilter bottommost : {BottommostFilter::kBloom, BottommostFilter::kRibbon}) {
    double found = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : candidates) {
      if (candidate.options.lines != 0 || candidate.options.bottommost != bottommost) continue;
      found = std::min(found, candidate.filters.wasted_reads);
    }
    const double least = LeastWastedReads(tree, constraint.value, bottommost);
    EXPECT_LE(found, least * 1.005);
    EXPECT_GE(found, least * 0.9);  // the grid is coarse
  }
}

TEST(SettingSearch, UsesTheMemoryAndNoMore) {
  const Tree tree = ThreeLevels();
  const Constraint constraint = Memory(tree, 10);
  const std::vector<Candidate>& candidates = OfThreeLevels();
  // Flat, by size ratio, by level, by the live tree; with and without Ribbon filters; two of them
  // in two layouts more.
  EXPECT_EQ(candidates.size(), 12U);
  for (const Candidate& candidate : candidates) {
    EXPECT_TRUE(constraint.IsMetBy(candidate.filters)) << candidate.policy;
    const double share = static_cast<double>(candidate.filters.bytes) / constraint.value;
    // What follows the tree keeps room for the runs that come and go.
    EXPECT_GT(share, FollowsTree(candidate.options) ? 0.8 : 0.99) << candidate.policy;
    if (FollowsTree(candidate.options)) {
      EXPECT_LE(candidate.options.bits_per_key, 10.0);
    }
    const TreeFilters again = FiltersOf(WithFiltersOf(candidate.options, tree), kCosts);
    EXPECT_EQ(again.bytes, candidate.filters.bytes);
    EXPECT_EQ(again.wasted_reads, candidate.filters.wasted_reads);
    EXPECT_DOUBLE_EQ(again.lookup_nanoseconds,
                     again.wasted_reads * kCosts.read_nanoseconds + again.check_nanoseconds);
  }
}

TEST(SettingSearch, MeetsWantedReadsWithFewBytes) {
  const Tree tree = ThreeLevels();
  const Constraint constraint{Goal::kWastedReads, 0.005};
  const std::vector<Candidate> candidates = FindCandidates(tree, constraint, kCosts);
  EXPECT_EQ(candidates.size(), 8U);
  for (const Candidate& candidate : candidates) {
    EXPECT_TRUE(constraint.IsMetBy(candidate.filters)) << candidate.policy;
    // GeometricLevelBits is within half a per cent of its bits.
    EXPECT_GT(candidate.filters.wasted_reads, constraint.value * 0.97) << candidate.policy;
  }
  // The memory that a plan by levels needs is what memory gives that rate.
  const Candidate& best = candidates.front();
  const Constraint same{Goal::kMemory, static_cast<double>(best.filters.bytes)};
  const std::vector<Candidate> in_memory = FindCandidates(tree, same, kCosts);
  double least = 1.0;
  for (const Candidate& candidate : in_memory) {
    least = std::min(least, candidate.filters.wasted_reads);
  }
  EXPECT_NEAR(least / constraint.value, 1.0, 0.02);
}

TEST(SettingSearch, KeepsEveryTableToAWantedRate) {
  const Tree tree = ThreeLevels();
  const Constraint constraint{Goal::kRate, 0.01};
  const std::vector<Candidate> candidates = FindCandidates(tree, constraint, kCosts);
  EXPECT_EQ(candidates.size(), 2U);
  for (const Candidate& candidate : candidates) {
    EXPECT_TRUE(constraint.IsMetBy(candidate.filters)) << candidate.policy;
    EXPECT_GT(candidate.filters.worst_rate, 0.0095) << candidate.policy;
  }
  EXPECT_EQ(candidates[Choose(candidates, constraint)].options.bottommost,
            BottommostFilter::kRibbon);
}

TEST(SettingSearch, AsksNothingOfADeepestLevelWithoutFilters) {
  Tree tree = TreeOf({1000, 10'000});
  tree.deepest_unfiltered = true;
  const Constraint constraint{Goal::kMemory, 2000};
  const std::vector<Candidate> candidates = FindCandidates(tree, constraint, kCosts);
  ASSERT_FALSE(candidates.empty());
  for (const Candidate& candidate : candidates) {
    EXPECT_GE(candidate.filters.wasted_reads, 1.0);
    EXPECT_EQ(candidate.options.bottommost, BottommostFilter::kBloom);
    EXPECT_TRUE(constraint.IsMetBy(candidate.filters));
  }
}

TEST(SettingSearch, OffersNoLevelsWhereThereIsOneRun) {
  const Tree tree = TreeOf({5000});
  for (const Candidate& candidate : FindCandidates(tree, Memory(tree, 10), kCosts)) {
    EXPECT_TRUE(candidate.options.level_bits.empty());
    EXPECT_EQ(candidate.options.size_ratio, 0.0);
  }
}

// Whether a candidate divides by level numbers, and whether one follows the tree.
std::pair<bool, bool> DivisionsOf(const Tree& tree) {
  std::pair<bool, bool> found;
  for (const Candidate& candidate : FindCandidates(tree, Memory(tree, 10), kCosts)) {
    const BloomFilterPolicyOptions& options = candidate.options;
    found.first = found.first || !options.level_bits.empty() || options.size_ratio > 0.0;
    found.second = found.second || FollowsTree(options);
  }
  return found;
}

TEST(SettingSearch, OffersNoDivisionByLevelWhereLevelsMove) {
  using Divisions = std::pair<bool, bool>;
  Tree tree = ThreeLevels();
  EXPECT_EQ(DivisionsOf(tree), Divisions(true, true));
  tree.is_followed = true;
  EXPECT_EQ(DivisionsOf(tree), Divisions(false, true));
  tree.is_followed = false;
  for (const auto style : {rocksdb::kCompactionStyleUniversal, rocksdb::kCompactionStyleFIFO}) {
    tree.compaction_style = style;
    EXPECT_EQ(DivisionsOf(tree), Divisions(false, true));
  }
  EXPECT_EQ(DivisionsOf(TreeOf({20'000, 10'000, 100'000}, 0)), Divisions(false, true));
  EXPECT_EQ(DivisionsOf(TreeOf({5'000, 10'000, 100'000}, 0)), Divisions(true, true));
}

// Its ratio is not the one that the options say, which would be a misfit.
TEST(SettingSearch, OffersOnlyASizeRatioThatTheTreeHas) {
  for (const std::uint64_t deepest : {30'000U, 100'000U, 300'000U}) {
    const Tree tree = TreeOf({1000, 10'000, deepest});
    bool is_offered = false;
    for (const Candidate& candidate : FindCandidates(tree, Memory(tree, 10), kCosts)) {
      is_offered = is_offered || candidate.options.size_ratio > 0.0;
    }
    EXPECT_EQ(is_offered, deepest == 100'000U) << deepest;
  }
}

TEST(SettingSearch, ABudgetHoldsWhateverTheBitsPerKey) {
  const Tree tree = ThreeLevels();
  for (const double bits : {4.0, 10.0, 16.0}) {
    Candidate within;
    within.options.bits_per_key = bits;
    within.options.bottommost = BottommostFilter::kRibbon;
    const auto budget = static_cast<std::uint64_t>(Memory(tree, 10).value);
    const Candidate bounded = WithBudget(within, tree, budget, kCosts);
    EXPECT_EQ(bounded.policy, FormatPolicy(FilterKind::kClassic, bounded.options));
    EXPECT_EQ(bounded.options.size_ratio, kAutoSizeRatio);
    EXPECT_EQ(bounded.options.memory_budget, budget);
    EXPECT_EQ(bounded.options.bottommost, BottommostFilter::kRibbon);
    EXPECT_LE(bounded.filters.bytes, budget);
    EXPECT_GT(static_cast<double>(bounded.filters.bytes),
              0.7 / 8.0 * std::min(bits, 10.0) * static_cast<double>(tree.Keys()));
  }
}

TEST(SettingSearch, HasNothingForAMemoryBelowAnyFilter) {
  const Tree tree = ThreeLevels();
  EXPECT_TRUE(FindCandidates(tree, {Goal::kMemory, 10}, kCosts).empty());
}

// Reads that cost nothing leave the processor's time; slow ones leave the reads.
TEST(SettingSearch, WeighsReadsAgainstChecks) {
  const Tree tree = TreeOf({100'000});
  const auto best_at = [&tree](double read_nanoseconds) {
    const auto found = FindCandidates(tree, Memory(tree, 10), FixedCosts(read_nanoseconds));
    return found[Choose(found, Memory(tree, 10))];
  };
  EXPECT_EQ(best_at(0.0).policy.find("{id=classic_bloom;bits_per_key="), 0U);
  EXPECT_EQ(best_at(0.0).options.lines, 1);
  EXPECT_EQ(best_at(10e6).options.lines, 0);
  EXPECT_EQ(best_at(10e6).options.bottommost, BottommostFilter::kRibbon);
}

// A candidate with as many ideas to it, up to 3.
Candidate Costing(double nanoseconds, int complexity) {
  Candidate candidate;
  candidate.filters.lookup_nanoseconds = nanoseconds;
  candidate.options.lines = complexity % 2;
  if (complexity >= 2) candidate.options.level_bits = {10};
  return candidate;
}

TEST(Choice, PrefersTheSimplerWithinTheWorthwhileGain) {
  const double just_within = 100.0 * (1.0 + kWorthwhileGain) * 0.999;
  const double just_beyond = 100.0 * (1.0 + kWorthwhileGain) * 1.001;
  EXPECT_EQ(Choose({Costing(100, 3), Costing(just_within, 0)}, {}), 1U);
  EXPECT_EQ(Choose({Costing(100, 3), Costing(just_beyond, 0)}, {}), 0U);
  EXPECT_EQ(Choose({Costing(101, 1), Costing(100, 1)}, {}), 1U);
  EXPECT_EQ(Choose({Costing(101, 2), Costing(101.5, 1), Costing(100, 3)}, {}), 1U);
}

TEST(Choice, CountsWhatASettingHasToIt) {
  BloomFilterPolicyOptions options;
  EXPECT_EQ(ComplexityOf(options), 0);
  EXPECT_EQ(FormatPolicy(FilterKind::kClassic, options), "classic_bloom:10");
  options.lines = 1;
  EXPECT_EQ(ComplexityOf(options), 1);
  EXPECT_EQ(FormatPolicy(FilterKind::kClassic, options),
            "{id=classic_bloom;bits_per_key=10;lines=1}");
  options.level_bits = {12, 9.5};
  options.bottommost = BottommostFilter::kRibbon;
  EXPECT_EQ(ComplexityOf(options), 4);
  EXPECT_EQ(FormatPolicy(FilterKind::kClassic, options),
            "{id=classic_bloom;lines=1;level_bits=12:9.5;bottommost=ribbon}");
}

}  // namespace
}  // namespace exactbloom::tool
