#include "exactbloom/filter_sizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "exactbloom/false_positive_rate.h"

namespace exactbloom {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

std::uint64_t WholeBytes(std::uint64_t keys, double bits_per_key) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(keys) * bits_per_key / 8.0)) * 8;
}

int BestByRateAlone(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  int best = 1;
  for (int k = 1; k <= 40; ++k) {
    if (Log2FalsePositiveRate(layout, bits, keys, k) <
        Log2FalsePositiveRate(layout, bits, keys, best)) {
      best = k;
    }
  }
  return best;
}

TEST(FilterSizer, AgreesWithTheExactRateForPartitionsOfManySizes) {
  struct Case {
    Layout layout;
    std::vector<double> bits_per_key;
    std::uint64_t most_keys;
    std::uint64_t step;
  };
  const std::vector<double> many = {1.0, 4.4, 9.35, 9.4, 10.0, 16.1};
  for (const Case& c :
       {Case{FilterKind::kStandard, many, 3400, 29}, Case{FilterKind::kClassic, many, 3400, 29},
        Case{{FilterKind::kClassic, 1}, {6.3, 10.0}, 6000, 150}}) {
    for (const double bits_per_key : c.bits_per_key) {
      FilterSizer sizer(c.layout);
      for (std::uint64_t keys = 2700; keys < c.most_keys; keys += c.step) {
        const std::uint64_t unit = c.layout.Granularity();
        const std::uint64_t bits = WholeBytes(keys, bits_per_key) / unit * unit;
        EXPECT_EQ(sizer.OptimalProbes(bits, keys), BestByRateAlone(c.layout, bits, keys))
            << "kind=" << static_cast<int>(c.layout.kind) << " lines=" << c.layout.Lines()
            << " m=" << bits << " n=" << keys;
      }
    }
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

TEST(FilterSizer, AnswersNonsenseLikeTheStatelessFunctions) {
  FilterSizer sizer(FilterKind::kClassic);
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
