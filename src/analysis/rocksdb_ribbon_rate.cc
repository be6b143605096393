#include "exactbloom/rocksdb_ribbon_rate.h"

#include <algorithm>
#include <cmath>

namespace exactbloom {
namespace {

constexpr std::uint64_t kWidestSlot = 32;

// The rate of slots of `width` bits on average.
double RateOfWidth(double width) {
  width = std::min(static_cast<double>(kWidestSlot), width);
  const double wider = std::ceil(width);
  const double narrower_share = wider - width;
  return std::exp2(-wider) * (1.0 + narrower_share);
}

}  // namespace

double RocksDBRibbonOverhead(std::uint64_t keys) {
  constexpr double kLeast = 1.0225;
  constexpr double kBase = 0.9715;
  constexpr double kPerDoubling = 0.0038;
  return std::max(kLeast, kBase + kPerDoubling * std::log2(static_cast<double>(keys)));
}

double RocksDBRibbonFalsePositiveRate(std::uint64_t keys, std::uint64_t bits) {
  return RateOfWidth(static_cast<double>(bits) /
                     (static_cast<double>(keys) * RocksDBRibbonOverhead(keys)));
}

double RocksDBRibbonFalsePositiveRateOfSlots(std::uint64_t slots, std::uint64_t bits) {
  const std::uint64_t blocks = slots / kRocksDBRibbonBlockSlots;
  const std::uint64_t columns = std::min(bits / kRocksDBRibbonBlockSlots, blocks * kWidestSlot);
  const std::uint64_t wider = (columns + blocks - 1) / blocks;
  const std::uint64_t narrower_blocks = wider * blocks - columns;
  const std::uint64_t starts =
      slots - kRocksDBRibbonBlockSlots + 1;  // first slots that keys may have
  const double narrower_share =
      static_cast<double>(narrower_blocks * kRocksDBRibbonBlockSlots) / static_cast<double>(starts);
  return std::exp2(-static_cast<double>(wider)) * (1.0 + narrower_share);
}

}  // namespace exactbloom
