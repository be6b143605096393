// Code words: which bits a key touches.
//
// All hashes are hashes of consecutive numbers, so the key hash is under test as well. Chi-square
// statistics are held to two-sided 99.9% intervals; where many are made, to their joint level.
#include "src/filter/kernels/code_word.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sample_filters.h"
#include "src/filter/kernels/key_hash.h"
#include "statistics.h"

namespace exactbloom::filter {
namespace {

std::uint64_t HashOf(std::uint64_t number) { return HashKey(NumberKey(number).text(), 0); }

std::uint64_t BinomialCoefficient(std::uint64_t n, std::uint64_t k) {
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

std::uint64_t MaskOf(const CodeWord& word) {
  std::uint64_t mask = 0;
  for (int i = 0; i < word.size; ++i) {
    mask |= std::uint64_t{1} << word.positions[static_cast<std::size_t>(i)];
  }
  return mask;
}

TEST(CodeWord, ExtremeHashesStayInRange) {
  for (const std::uint64_t hash : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    for (const std::uint64_t bits :
         {std::uint64_t{72}, std::uint64_t{1} << 35, ~std::uint64_t{0}}) {
      for (const FilterKind kind : {FilterKind::kStandard, FilterKind::kClassic}) {
        const CodeWord word = MakeCodeWord(kind, hash, bits, kMaxProbes);
        ASSERT_EQ(word.size, kMaxProbes);
        for (const std::uint64_t position : word.positions) ASSERT_LT(position, bits);
      }
    }
  }
}

using BitsAndProbes = std::pair<std::uint64_t, int>;
class ClassicSubsets : public testing::TestWithParam<BitsAndProbes> {};

TEST_P(ClassicSubsets, AreAllEquallyLikely) {
  const auto [bits, probes] = GetParam();
  const std::uint64_t subsets = BinomialCoefficient(bits, static_cast<std::uint64_t>(probes));
  constexpr std::uint64_t kHashesPerSubset = 4000;
  std::map<std::uint64_t, std::uint64_t> found;
  for (std::uint64_t number = 0; number < subsets * kHashesPerSubset; ++number) {
    ++found[MaskOf(MakeCodeWord(FilterKind::kClassic, HashOf(number), bits, probes))];
  }
  ASSERT_EQ(found.size(), subsets);
  std::vector<std::uint64_t> counts;
  for (const auto& [mask, count] : found) counts.push_back(count);
  const Interval interval = ChiSquareInterval(static_cast<double>(subsets - 1));
  EXPECT_TRUE(interval.Contains(ChiSquareOfUniform(counts)));
}

INSTANTIATE_TEST_SUITE_P(CodeWord, ClassicSubsets,
                         testing::ValuesIn(std::vector<BitsAndProbes>{{32, 1},
                                                                      {40, 39},
                                                                      {11, 2},
                                                                      {8, 3},
                                                                      {16, 3},
                                                                      {9, 4},
                                                                      {8, 5},
                                                                      {11, 5},
                                                                      {12, 6},
                                                                      {12, 10},
                                                                      {10, 7}}));

// Bonferroni: up to 400 chi-square statistics jointly leave their intervals in 0.1% of all cases.
constexpr double kZJoint = 4.71;

using Draws = std::vector<int>;

// Expects all values that draws of one key take together to be equally likely.
void ExpectUniform(const std::vector<Draws>& groups, std::uint64_t bits, std::uint64_t hashes,
                   double z) {
  std::vector<std::vector<std::uint64_t>> counts(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t values = 1;
    for (std::size_t draw = 0; draw < groups[i].size(); ++draw) values *= bits;
    counts[i].resize(values);
  }
  for (std::uint64_t number = 0; number < hashes; ++number) {
    const CodeWord word = MakeCodeWord(FilterKind::kStandard, HashOf(number), bits, kMaxProbes);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      std::uint64_t value = 0;
      for (const int draw : groups[i]) {
        value = value * bits + word.positions[static_cast<std::size_t>(draw)];
      }
      ++counts[i][value];
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Interval interval = ChiSquareInterval(static_cast<double>(counts[i].size() - 1), z);
    EXPECT_TRUE(interval.Contains(ChiSquareOfUniform(counts[i])))
        << testing::PrintToString(groups[i]);
  }
}

TEST(CodeWord, DrawsPairsAndTriplesOfThemAreUniform) {
  std::vector<Draws> draws;
  for (int i = 0; i < kMaxProbes; ++i) draws.push_back({i});
  ExpectUniform(draws, 257, 500000, kZJoint);
  std::vector<Draws> pairs;
  for (int i = 0; i < 28; ++i) {
    for (int j = 0; j < i; ++j) pairs.push_back({i, j});
  }
  ExpectUniform(pairs, 19, 200000, kZJoint);
  // As far apart as a code word's first and last draw.
  ExpectUniform({{0, 1, 2}, {0, 1, 3}, {0, 2, 4}, {2, 5, 6}, {0, 6, 13}, {0, 35, 71}}, 13, 2000000,
                kZ999);
}

}  // namespace
}  // namespace exactbloom::filter
