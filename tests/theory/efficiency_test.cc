#include "exactbloom/theory/efficiency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"

namespace exactbloom {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

TEST(Efficiency, IsTheShareOfTheInformationBound) {
  EXPECT_NEAR(Efficiency(FilterKind::kClassic, 64, 4, 9), -4.0 * std::log2(4.550e-4) / 64.0, 1e-4);
  const double large = Efficiency(FilterKind::kStandard, 10'000'000, 1'000'000, 7);
  EXPECT_NEAR(large, -std::log2(0.0081937) / 10.0, 1e-6);
  EXPECT_LT(large, kLn2);
  EXPECT_TRUE(std::isnan(Efficiency(FilterKind::kClassic, 10, 0, 3)));
  EXPECT_TRUE(std::isnan(Efficiency(FilterKind::kClassic, 0, 1, 3)));
  EXPECT_TRUE(std::isnan(Efficiency(FilterKind::kClassic, 2, 1, 3)));
}

// Theorem 26, and Conjecture 28 (75), which m = 3 refutes.
TEST(Efficiency, OfAllSmallFiltersIsBestWithOneProbeOrWithOneKey) {
  for (std::uint64_t bits = 2; bits <= 16; ++bits) {
    for (const FilterKind kind : kKinds) {
      double best = 0.0;
      double best_of_theorem = 0.0;
      for (std::uint64_t n = 1; n <= 3 * bits; ++n) {
        for (int k = 1; k <= static_cast<int>(bits); ++k) {
          const double efficiency = Efficiency(kind, bits, n, k);
          best = std::max(best, efficiency);
          const bool is_of_theorem = kind == FilterKind::kStandard || bits == 3
                                         ? k == 1
                                         : n == 1 && k == static_cast<int>(bits / 2);
          if (is_of_theorem) best_of_theorem = std::max(best_of_theorem, efficiency);
        }
      }
      EXPECT_NEAR(best_of_theorem, best, 1e-11) << bits;
    }
  }
  EXPECT_NEAR(Efficiency(FilterKind::kClassic, 3, 2, 1), 0.565, 5e-4);
  EXPECT_NEAR(Efficiency(FilterKind::kClassic, 3, 1, 1), 0.528, 5e-4);
}

}  // namespace
}  // namespace exactbloom
