#include "filter_fill.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/rocksdb_ribbon_rate.h"
#include "support/filter_interfaces.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;

constexpr std::size_t kLineBytes = kCacheLineBits / 8;
constexpr std::size_t kBuiltInTrailerBytes = 5;

std::size_t OnesOf(const unsigned char* line) {
  std::array<std::uint64_t, kLineBytes / sizeof(std::uint64_t)> words{};
  std::memcpy(words.data(), line, kLineBytes);
  std::size_t ones = 0;
  for (const std::uint64_t word : words) ones += std::bitset<64>(word).count();
  return ones;
}

// Lines have 64 bytes, unless a machine with other cache lines wrote an older filter.
void MeasureBuiltInBloom(const Slice& array, BlockFill* fill) {
  if (array.size() % kLineBytes != 0) return;
  const int probes = fill->filter.probes;
  std::array<double, kCacheLineBits + 1> rates{};  // of a line, by its ones
  for (std::uint64_t ones = 0; ones <= kCacheLineBits; ++ones) {
    rates[ones] = FalsePositiveRateGivenFill(BloomKind::kStandard, kCacheLineBits, ones, probes);
  }
  const auto* begin = reinterpret_cast<const unsigned char*>(array.data());
  double sum = 0.0;
  for (const unsigned char* line = begin; line < begin + array.size(); line += kLineBytes) {
    const std::size_t ones = OnesOf(line);
    fill->ones += ones;
    sum += rates[ones];
  }
  fill->rate = sum * kLineBytes / static_cast<double>(array.size());
}

}  // namespace

BlockFill MeasureBlock(const Slice& block) {
  BlockFill fill;
  fill.filter = DescribeFilterBlock(block);
  const FilterDescription& ours = fill.filter.ours;
  const Slice array(block.data(), block.size() - std::min(block.size(), kBuiltInTrailerBytes));
  fill.bits = array.size() * 8;
  switch (fill.filter.family) {
    case FilterFamily::kExactBloom:
      fill.bits = ours.bits;
      fill.ones = FilterView({block.data(), block.size()}).CountOnes();
      fill.rate =
          FalsePositiveRateGivenFill(ToBloomKind(ours.kind), ours.bits, fill.ones, ours.probes);
      break;
    case FilterFamily::kBloom:
    case FilterFamily::kLegacyBloom:
      MeasureBuiltInBloom(array, &fill);
      break;
    case FilterFamily::kExactRibbon:
      fill.bits = (block.size() - support::RibbonTrailerBytes(ours.keys, ours.hash_seed)) * 8;
      fill.rate = fill.filter.ribbon_rate;
      break;
    case FilterFamily::kRibbon:
      fill.rate = RocksDBRibbonFalsePositiveRateOfSlots(fill.filter.ribbon_slots, fill.bits);
      break;
    case FilterFamily::kEmpty:
      fill.rate = 0.0;
      break;
    default:
      break;
  }
  return fill;
}

double BuiltInRate(const BlockFill& block, double keys) {
  if (block.filter.family != FilterFamily::kBloom) return block.rate;
  constexpr double kMostKeys = 0x1p53;
  if (keys > kMostKeys) return 1.0;
  return CacheLineFalsePositiveRate(block.bits / kCacheLineBits,
                                    static_cast<std::uint64_t>(std::llround(keys)),
                                    block.filter.probes);
}

}  // namespace exactbloom::tool
