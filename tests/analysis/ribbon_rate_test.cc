#include "exactbloom/ribbon_rate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

namespace exactbloom {
namespace {

// Slots and keys of RocksDB's util/ribbon_config.cc (one failure in 20, 128 bits, no smash).
TEST(RibbonOverhead, IsWithinThreeThousandthsOfRocksDBs) {
  constexpr std::array<std::pair<double, double>, 8> kKnown = {{{1024, 1001.26},
                                                                {2048, 2003.97},
                                                                {4096, 4005.59},
                                                                {8192, 8000.39},
                                                                {16384, 15966.6},
                                                                {32768, 31828.1},
                                                                {65536, 63447.3},
                                                                {131072, 126506}}};
  for (const auto& [slots, keys] : kKnown) {
    EXPECT_NEAR(RibbonOverhead(static_cast<std::uint64_t>(keys)) / (slots / keys), 1.0, 0.003)
        << keys;
  }
}

TEST(RibbonFalsePositiveRate, MixesTheRatesOfWholeSlots) {
  constexpr std::uint64_t kKeys = 100'000;
  const double slots = kKeys * RibbonOverhead(kKeys);
  const auto rate = [&](double width) {
    return RibbonFalsePositiveRate(kKeys, static_cast<std::uint64_t>(std::ceil(width * slots)));
  };
  EXPECT_NEAR(rate(8.0), std::exp2(-8), 1e-7);
  EXPECT_NEAR(rate(8.25), 0.75 * std::exp2(-8) + 0.25 * std::exp2(-9), 1e-7);
  EXPECT_NEAR(rate(0.5), 0.75, 1e-5);
  EXPECT_EQ(RibbonFalsePositiveRate(kKeys, 0), 1.0);
  EXPECT_EQ(rate(40.0), std::exp2(-32));
}

}  // namespace
}  // namespace exactbloom
