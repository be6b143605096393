#include "exactbloom/rocksdb_ribbon_rate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace exactbloom {
namespace {

// Slots and keys of RocksDB's util/ribbon_config.cc (one failure in 20, 128 bits, no smash).
TEST(RocksDBRibbonOverhead, IsWithinThreeThousandthsOfRocksDBs) {
  constexpr std::array<std::pair<double, double>, 8> kKnown = {{{1024, 1001.26},
                                                                {2048, 2003.97},
                                                                {4096, 4005.59},
                                                                {8192, 8000.39},
                                                                {16384, 15966.6},
                                                                {32768, 31828.1},
                                                                {65536, 63447.3},
                                                                {131072, 126506}}};
  for (const auto& [slots, keys] : kKnown) {
    EXPECT_NEAR(RocksDBRibbonOverhead(static_cast<std::uint64_t>(keys)) / (slots / keys), 1.0,
                0.003)
        << keys;
  }
}

TEST(RocksDBRibbonFalsePositiveRate, MixesTheRatesOfWholeSlots) {
  constexpr std::uint64_t kKeys = 100'000;
  const double slots = kKeys * RocksDBRibbonOverhead(kKeys);
  const auto rate = [&](double width) {
    return RocksDBRibbonFalsePositiveRate(kKeys,
                                          static_cast<std::uint64_t>(std::ceil(width * slots)));
  };
  EXPECT_NEAR(rate(8.0), std::exp2(-8), 1e-7);
  EXPECT_NEAR(rate(8.25), 0.75 * std::exp2(-8) + 0.25 * std::exp2(-9), 1e-7);
  EXPECT_NEAR(rate(0.5), 0.75, 1e-5);
  EXPECT_EQ(RocksDBRibbonFalsePositiveRate(kKeys, 0), 1.0);
  EXPECT_EQ(rate(40.0), std::exp2(-32));
}

// The mean over keys whose first slot is at each possible place.
double MeanRateOfStarts(std::uint64_t blocks, std::uint64_t columns) {
  double sum = 0.0;
  std::uint64_t starts = 0;
  for (; starts + kRocksDBRibbonBlockSlots <= blocks * kRocksDBRibbonBlockSlots; ++starts) {
    const bool wider = starts / kRocksDBRibbonBlockSlots >= blocks - columns % blocks;
    sum += std::ldexp(1.0, -static_cast<int>(columns / blocks + (wider ? 1 : 0)));
  }
  return sum / static_cast<double>(starts);
}

TEST(RocksDBRibbonFalsePositiveRateOfSlots, IsTheMeanOverTheStarts) {
  for (const std::uint64_t blocks : {2U, 3U, 10U, 57U}) {
    const std::uint64_t slots = blocks * kRocksDBRibbonBlockSlots;
    for (std::uint64_t columns = 0; columns <= 32 * blocks; columns += 1 + blocks / 7) {
      const double expected = MeanRateOfStarts(blocks, columns);
      const std::uint64_t bits = columns * kRocksDBRibbonBlockSlots;
      ASSERT_NEAR(RocksDBRibbonFalsePositiveRateOfSlots(slots, bits) / expected, 1.0, 1e-12)
          << columns << " columns of " << blocks << " blocks";
    }
    EXPECT_EQ(RocksDBRibbonFalsePositiveRateOfSlots(slots, 33 * slots), std::exp2(-32));
  }
}

}  // namespace
}  // namespace exactbloom
