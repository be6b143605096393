#include "exactbloom/filter_sizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "exactbloom/false_positive_rate.h"

namespace exactbloom {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

std::uint64_t WholeBytes(std::uint64_t keys, double bits_per_key) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(keys) * bits_per_key / 8.0)) * 8;
}

int BestByRateAlone(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  const int step = layout.ProbeStep();
  int best = step;
  for (int k = step; k <= 40; k += step) {
    if (Log2FalsePositiveRate(layout, bits, keys, k) <
        Log2FalsePositiveRate(layout, bits, keys, best)) {
      best = k;
    }
  }
  return best;
}

TEST(FilterSizer, AgreesWithTheExactRateForPartitionsOfManySizes) {
  for (const FilterKind kind : kKinds) {
    for (const double bits_per_key : {1.0, 4.4, 9.35, 9.4, 10.0, 16.1}) {
      FilterSizer sizer(kind);
      for (std::uint64_t keys = 2700; keys < 3400; keys += 29) {
        const std::uint64_t bits = WholeBytes(keys, bits_per_key);
        EXPECT_EQ(sizer.OptimalProbes(bits, keys), BestByRateAlone(kind, bits, keys))
            << "kind=" << static_cast<int>(kind) << " m=" << bits << " n=" << keys;
      }
    }
  }
}

TEST(FilterSizer, AgreesWithTheExactRateForLines) {
  for (const double bits_per_key : {6.3, 10.0}) {
    FilterSizer sizer({FilterKind::kClassic, 1});
    for (std::uint64_t keys = 2700; keys < 6000; keys += 150) {
      const std::uint64_t bits = WholeBytes(keys, bits_per_key) / kLineBits * kLineBits;
      EXPECT_EQ(sizer.OptimalProbes(bits, keys),
                BestByRateAlone({FilterKind::kClassic, 1}, bits, keys));
    }
  }
}

TEST(FilterSizer, AgreesWithTheStatelessSearchForTwoLines) {
  const Layout layout{FilterKind::kClassic, 2};
  FilterSizer sizer(layout);
  for (std::uint64_t keys = 3000; keys < 3300; keys += 25) {
    const std::uint64_t bits = keys * 10 / kLineBits * kLineBits;
    EXPECT_EQ(sizer.OptimalProbes(bits, keys), OptimalProbes(layout, bits, keys));
  }
}

// The ground of the boxes: k* does not fall with bits nor rise with keys.
TEST(FilterSizerExhaustive, OptimalProbesAreMonotone) {
  for (const FilterKind kind : kKinds) {
    for (std::uint64_t keys = 1; keys <= 16; ++keys) {
      for (std::uint64_t bits = 1; bits <= 160; ++bits) {
        const int probes = OptimalProbes(kind, bits, keys);
        EXPECT_LE(probes, OptimalProbes(kind, bits + 1, keys)) << bits << " " << keys;
        EXPECT_GE(probes, OptimalProbes(kind, bits, keys + 1)) << bits << " " << keys;
      }
    }
  }
  for (std::uint64_t keys = 20; keys <= 400; keys += 1 + keys / 8) {
    for (std::uint64_t lines = 2; lines <= 16; ++lines) {
      const Layout layout{FilterKind::kClassic, 1};
      const int probes = OptimalProbes(layout, lines * kLineBits, keys);
      EXPECT_LE(probes, OptimalProbes(layout, (lines + 1) * kLineBits, keys))
          << lines << " " << keys;
      EXPECT_GE(probes, OptimalProbes(layout, lines * kLineBits, keys + 1)) << lines << " " << keys;
    }
  }
}

TEST(FilterSizer, FindsTheSameSmallestFilters) {
  for (const FilterKind kind : kKinds) {
    FilterSizer sizer(kind);
    for (const double target : {0.01, 0.3, 1e-5}) {
      for (std::uint64_t keys = 2990; keys < 3010; ++keys) {
        for (int again = 0; again < 2; ++again) {
          const auto size = sizer.SmallestFilter(keys, target);
          const auto truth = SmallestFilter(kind, keys, target);
          ASSERT_TRUE(size && truth);
          EXPECT_EQ(size->bits, truth->bits);
          EXPECT_EQ(size->probes, truth->probes);
          EXPECT_NEAR(size->false_positive_rate / truth->false_positive_rate, 1.0, 1e-12);
        }
      }
    }
  }
}

TEST(SmallestFilter, ReachesTheTargetInWholeLines) {
  for (const Layout layout : {Layout{FilterKind::kClassic, 1}, Layout{FilterKind::kStandard, 1},
                              Layout{FilterKind::kClassic, 2}}) {
    for (const double target : {0.9, 0.01}) {
      for (const std::uint64_t keys : {1, 700}) {
        const auto size = SmallestFilter(layout, keys, target);
        ASSERT_TRUE(size.has_value());
        EXPECT_EQ(size->bits % kLineBits, 0U);
        EXPECT_LE(FalsePositiveRate(layout, size->bits, keys, size->probes), target);
        const std::uint64_t less = size->bits - kLineBits;
        const int probes = OptimalProbes(layout, less, keys);
        if (probes > 0) {
          EXPECT_GT(FalsePositiveRate(layout, less, keys, probes), target);
        }
        const auto most = MostKeys(layout, size->bits, target);
        ASSERT_TRUE(most.has_value());
        EXPECT_GE(*most, keys);
      }
    }
  }
}

TEST(FilterSizer, AnswersNonsenseLikeTheStatelessFunctions) {
  FilterSizer sizer(FilterKind::kClassic);
  EXPECT_EQ(sizer.OptimalProbes(0, 10), 0);
  EXPECT_EQ(sizer.OptimalProbes(100, 0), 1);
  EXPECT_FALSE(sizer.SmallestFilter(0, 0.01));
  EXPECT_FALSE(sizer.SmallestFilter(10, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(sizer.SmallestFilter(10, 1.0));
  FilterSizer lines({FilterKind::kClassic, 2});
  EXPECT_EQ(lines.OptimalProbes(512, 10), 0);
  EXPECT_EQ(lines.OptimalProbes(1000, 10), 0);
  FilterSizer none({FilterKind::kClassic, 3});
  EXPECT_EQ(none.OptimalProbes(512, 10), 0);
  EXPECT_FALSE(none.SmallestFilter(10, 0.1));
}

}  // namespace
}  // namespace exactbloom
