#include <algorithm>
#include <cmath>

#include "block_format.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"

namespace exactbloom {
namespace {

// The bytes that m is a multiple of, and the fewest of a layout.
std::uint64_t ArrayGranularity(Layout layout) { return layout.lines == 0 ? 1 : kLineBits / 8; }

std::uint64_t FewestArrayBytes(Layout layout) {
  return ArrayGranularity(layout) * static_cast<std::uint64_t>(std::max(layout.lines, 1));
}

}  // namespace

FilterSize SizeAtBitsPerKey(Layout layout, std::uint64_t keys, double bits_per_key) {
  const std::uint64_t granularity = ArrayGranularity(layout);
  const auto granules = [&](double bytes) { return bytes / static_cast<double>(granularity); };
  const double wanted = std::ceil(granules(static_cast<double>(keys) * bits_per_key / 8.0));
  const double fewest = granules(static_cast<double>(FewestArrayBytes(layout)));
  const double most = std::floor(granules(static_cast<double>(filter::kMaxArrayBytes)));
  FilterSize size;
  size.bits = static_cast<std::uint64_t>(std::clamp(wanted, fewest, most)) * granularity * 8;
  size.probes = OptimalProbes(layout, size.bits, keys);
  size.false_positive_rate = FalsePositiveRate(layout, size.bits, keys, size.probes);
  return size;
}

}  // namespace exactbloom
