#include <algorithm>
#include <cmath>

#include "block_format.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kMaxArrayBytes = kBlockBytesLimit - 1 - filter::kTrailerBytes;

}  // namespace

FilterSize SizeAtBitsPerKey(FilterKind kind, std::uint64_t keys, double bits_per_key) {
  const double wanted = std::ceil(static_cast<double>(keys) * bits_per_key / 8.0);
  const double bytes = std::clamp(wanted, 1.0, static_cast<double>(kMaxArrayBytes));
  FilterSize size;
  size.bits = static_cast<std::uint64_t>(bytes) * 8;
  size.probes = OptimalProbes(kind, size.bits, keys);
  size.false_positive_rate = FalsePositiveRate(kind, size.bits, keys, size.probes);
  return size;
}

}  // namespace exactbloom
