#include "filter_fill.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "plugin/block_description.h"
#include "src/filter/block_format.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;

constexpr std::size_t kLineBytes = kLineBits / 8;
constexpr std::size_t kBuiltInTrailerBytes = 5;

std::size_t OnesOf(const unsigned char* line) {
  std::array<std::uint64_t, kLineBytes / sizeof(std::uint64_t)> words{};
  std::memcpy(words.data(), line, kLineBytes);
  std::size_t ones = 0;
  for (const std::uint64_t word : words) ones += std::bitset<64>(word).count();
  return ones;
}

// The rates of a line, by its ones.
using LineRates = std::array<double, kLineBits + 1>;

LineRates RatesOfLine(FilterKind kind, int probes) {
  LineRates rates{};
  for (std::uint64_t ones = 0; ones <= kLineBits; ++ones) {
    rates[ones] = FalsePositiveRateGivenFill(kind, kLineBits, ones, probes);
  }
  return rates;
}

void MeasureLines(const unsigned char* array, BlockFill* fill) {
  const LineRates rates = RatesOfLine(fill->layout.kind, fill->probes);
  const std::uint64_t lines = fill->bits / kLineBits;
  double sum = 0.0;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const std::size_t ones = OnesOf(array + line * kLineBytes);
    fill->ones += ones;
    sum += rates[ones];
  }
  fill->rate = sum / static_cast<double>(lines);
}

void MeasureOurs(std::string_view bytes, BlockFill* fill) {
  const BloomFilterView view(bytes);
  const FilterDescription& filter = view.Description();
  fill->layout = filter.layout;
  fill->probes = filter.probes;
  fill->bits = filter.bits;
  fill->keys = filter.keys;
  if (filter.layout.InLines()) return MeasureLines(filter::DecodeBlock(bytes).array, fill);
  fill->ones = view.CountOnes();
  fill->rate =
      FalsePositiveRateGivenFill(filter.layout.kind, filter.bits, fill->ones, filter.probes);
}

// Lines have 64 bytes, unless a machine with other cache lines wrote an older filter.
void MeasureBuiltInBloom(const Slice& array, int probes, BlockFill* fill) {
  if (array.size() % kLineBytes != 0) return;
  fill->layout = {FilterKind::kStandard, 1};
  fill->probes = probes;
  MeasureLines(reinterpret_cast<const unsigned char*>(array.data()), fill);
}

}  // namespace

BlockFill MeasureBlock(const Slice& block) {
  const FilterBlockDescription description = DescribeFilterBlock(block);
  BlockFill fill;
  fill.family = description.family;
  const Slice array(block.data(), block.size() - std::min(block.size(), kBuiltInTrailerBytes));
  fill.bits = array.size() * 8;
  switch (description.family) {
    case FilterFamily::kExactBloom:
      MeasureOurs({block.data(), block.size()}, &fill);
      break;
    case FilterFamily::kBloom:
    case FilterFamily::kLegacyBloom:
      MeasureBuiltInBloom(array, description.probes, &fill);
      break;
    case FilterFamily::kRibbon:
      fill.rate = RibbonFalsePositiveRateOfSlots(description.ribbon_slots, fill.bits);
      break;
    case FilterFamily::kEmpty:
      fill.rate = 0.0;
      break;
    default:
      break;
  }
  return fill;
}

}  // namespace exactbloom::tool
