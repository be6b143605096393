// Code words: which bits a key touches.
//
// All hashes are hashes of consecutive numbers, so the key hash is under test as well. Chi-square
// statistics are held to two-sided 99.9% intervals; where many are made, to their joint level.
#include "filter/kernels/code_word.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "filter/kernels/key_hash.h"
#include "sample_filters.h"
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

TEST(CodeWord, ClassicPositionsAreDistinctAndInRange) {
  for (const std::uint64_t bits : {1, 2, 7, 64, 72, 73, 1000}) {
    const int most = static_cast<int>(std::min<std::uint64_t>(bits, kMaxProbes));
    for (int probes = 1; probes <= most; ++probes) {
      for (std::uint64_t number = 0; number < 200; ++number) {
        const CodeWord word = MakeCodeWord(FilterKind::kClassic, HashOf(number), bits, probes);
        std::vector<std::uint64_t> positions(word.positions.begin(),
                                             word.positions.begin() + word.size);
        std::sort(positions.begin(), positions.end());
        ASSERT_EQ(positions.size(), static_cast<std::size_t>(probes));
        ASSERT_LT(positions.back(), bits);
        ASSERT_EQ(std::adjacent_find(positions.begin(), positions.end()), positions.end());
      }
    }
  }
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

// Every draw of a classic key is one of its positions, so a query may answer "absent" early.
TEST(CodeWord, EveryClassicDrawIsAPosition) {
  constexpr int kProbes = 40;
  constexpr std::uint64_t kBits = 64;
  for (std::uint64_t number = 0; number < 10000; ++number) {
    const CodeWord word = MakeCodeWord(FilterKind::kClassic, HashOf(number), kBits, kProbes);
    for (int i = 0; i < kProbes; ++i) {
      const std::uint64_t range = kBits - kProbes + 1 + static_cast<std::uint64_t>(i);
      ASSERT_TRUE(word.Contains(Draw(HashOf(number), i, range)));
    }
  }
}

struct SubsetCase {
  std::uint64_t bits;
  int probes;
};

class ClassicSubsets : public testing::TestWithParam<SubsetCase> {};

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
  EXPECT_GE(ChiSquareOfUniform(counts), interval.low);
  EXPECT_LE(ChiSquareOfUniform(counts), interval.high);
}

INSTANTIATE_TEST_SUITE_P(CodeWord, ClassicSubsets,
                         testing::Values(SubsetCase{32, 1}, SubsetCase{40, 39}, SubsetCase{11, 2},
                                         SubsetCase{8, 3}, SubsetCase{16, 3}, SubsetCase{9, 4},
                                         SubsetCase{8, 5}, SubsetCase{11, 5}, SubsetCase{12, 6},
                                         SubsetCase{12, 10}, SubsetCase{10, 7}),
                         [](const auto& test) {
                           return "m" + std::to_string(test.param.bits) + "k" +
                                  std::to_string(test.param.probes);
                         });

// Bonferroni: up to 400 chi-square statistics jointly leave their intervals in 0.1% of all cases.
constexpr double kZJoint = 4.71;

TEST(CodeWord, StandardPositionsAreUniform) {
  constexpr std::uint64_t kBits = 257;
  constexpr std::uint64_t kHashes = 500000;
  std::vector<std::vector<std::uint64_t>> counts(kMaxProbes, std::vector<std::uint64_t>(kBits));
  for (std::uint64_t number = 0; number < kHashes; ++number) {
    const CodeWord word = MakeCodeWord(FilterKind::kStandard, HashOf(number), kBits, kMaxProbes);
    for (std::size_t i = 0; i < kMaxProbes; ++i) ++counts[i][word.positions[i]];
  }
  const Interval interval = ChiSquareInterval(kBits - 1, kZJoint);
  for (std::size_t i = 0; i < kMaxProbes; ++i) {
    EXPECT_GE(ChiSquareOfUniform(counts[i]), interval.low) << "draw " << i;
    EXPECT_LE(ChiSquareOfUniform(counts[i]), interval.high) << "draw " << i;
  }
}

// Any two draws are independent: all pairs of positions are equally likely.
TEST(CodeWord, DrawsArePairwiseIndependent) {
  constexpr std::uint64_t kBits = 19;
  constexpr std::uint64_t kHashes = 200000;
  constexpr int kDraws = 28;  // 378 pairs
  std::vector<std::vector<std::uint64_t>> counts(kDraws * kDraws,
                                                 std::vector<std::uint64_t>(kBits * kBits));
  for (std::uint64_t number = 0; number < kHashes; ++number) {
    const CodeWord word = MakeCodeWord(FilterKind::kStandard, HashOf(number), kBits, kDraws);
    for (std::size_t i = 0; i < kDraws; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        ++counts[i * kDraws + j][word.positions[i] * kBits + word.positions[j]];
      }
    }
  }
  const Interval interval = ChiSquareInterval(kBits * kBits - 1, kZJoint);
  for (std::size_t i = 0; i < kDraws; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double statistic = ChiSquareOfUniform(counts[i * kDraws + j]);
      EXPECT_GE(statistic, interval.low) << "draws " << i << " and " << j;
      EXPECT_LE(statistic, interval.high) << "draws " << i << " and " << j;
    }
  }
}

// Three draws of a key, as far apart as a code word's first and last.
TEST(CodeWord, TriplesOfDrawsAreUniform) {
  constexpr std::uint64_t kBits = 13;
  constexpr std::uint64_t kHashes = 2000000;
  for (const auto& [a, b, c] : std::vector<std::tuple<int, int, int>>{
           {0, 1, 2}, {0, 1, 3}, {0, 2, 4}, {2, 5, 6}, {0, 6, 13}, {0, 35, 71}}) {
    std::vector<std::uint64_t> counts(kBits * kBits * kBits);
    for (std::uint64_t number = 0; number < kHashes; ++number) {
      const std::uint64_t hash = HashOf(number);
      ++counts[(Draw(hash, a, kBits) * kBits + Draw(hash, b, kBits)) * kBits +
               Draw(hash, c, kBits)];
    }
    const Interval interval = ChiSquareInterval(static_cast<double>(counts.size() - 1));
    EXPECT_GE(ChiSquareOfUniform(counts), interval.low) << a << ' ' << b << ' ' << c;
    EXPECT_LE(ChiSquareOfUniform(counts), interval.high) << a << ' ' << b << ' ' << c;
  }
}

}  // namespace
}  // namespace exactbloom::filter
