#include "exactbloom/filter_sizer.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/filter/sample_filters.h"

namespace exactbloom {
namespace {

// The second time from memory, in which two of the numbers of keys have the same place.
TEST(FilterSizer, AnswersAsTheStatelessFunctions) {
  for (const Layout layout : AllLayouts()) {
    FilterSizer sizer(layout);
    for (int again = 0; again < 2; ++again) {
      for (const std::uint64_t keys : {2990, 2991, 2991 + 1024}) {
        for (const std::uint64_t lines : {30, 60, 61}) {
          const std::uint64_t bits = lines * kLineBits;
          EXPECT_EQ(sizer.OptimalProbes(bits, keys), OptimalProbes(layout, bits, keys));
        }
        for (const double target : {0.01, 0.3, 1e-5}) {
          const auto size = sizer.SmallestFilter(keys, target);
          const auto truth = SmallestFilter(layout, keys, target);
          ASSERT_TRUE(size && truth);
          EXPECT_EQ(size->bits, truth->bits);
          EXPECT_EQ(size->probes, truth->probes);
          EXPECT_EQ(size->false_positive_rate, truth->false_positive_rate);
        }
      }
    }
  }
}

TEST(FilterSizer, AnswersNonsenseLikeTheStatelessFunctions) {
  FilterSizer sizer(FilterKind::kClassic);
  EXPECT_EQ(sizer.OptimalProbes(0, 0), 0);
  EXPECT_EQ(sizer.OptimalProbes(0, 10), 0);
  EXPECT_EQ(sizer.OptimalProbes(100, 0), 1);
  EXPECT_FALSE(sizer.SmallestFilter(0, 0.01));
  EXPECT_FALSE(sizer.SmallestFilter(10, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(sizer.SmallestFilter(10, 1.0));
  FilterSizer lines({FilterKind::kClassic, 1});
  EXPECT_EQ(lines.OptimalProbes(1000, 10), 0);
  FilterSizer none({FilterKind::kClassic, 2});
  EXPECT_EQ(none.OptimalProbes(512, 10), 0);
  EXPECT_FALSE(none.SmallestFilter(10, 0.1));
}

}  // namespace
}  // namespace exactbloom
