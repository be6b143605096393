#include "filter_sizing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "block_format.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter_sizer.h"

namespace exactbloom {
namespace {

// The bytes that m is a multiple of, and the fewest of a layout.
std::uint64_t ArrayGranularity(Layout layout) { return layout.lines == 0 ? 1 : kLineBits / 8; }

std::uint64_t FewestArrayBytes(Layout layout) {
  return ArrayGranularity(layout) * static_cast<std::uint64_t>(std::max(layout.lines, 1));
}

}  // namespace

namespace filter {

std::uint64_t BitsAtBitsPerKey(Layout layout, std::uint64_t keys, double bits_per_key) {
  const std::uint64_t granularity = ArrayGranularity(layout);
  const auto granules = [&](double bytes) { return bytes / static_cast<double>(granularity); };
  const double wanted = std::ceil(granules(static_cast<double>(keys) * bits_per_key / 8.0));
  const double fewest = granules(static_cast<double>(FewestArrayBytes(layout)));
  const double most = std::floor(granules(static_cast<double>(kMaxArrayBytes)));
  return static_cast<std::uint64_t>(std::clamp(wanted, fewest, most)) * granularity * 8;
}

int RememberedOptimalProbes(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  using Kind = FilterKind;
  // Never destroyed: a database may still compact in its own threads while the process ends.
  using Sizers = std::array<FilterSizer, 2 * (kMaxLines + 1)>;
  static Sizers& sizers =
      *new Sizers{FilterSizer({Kind::kStandard, 0}), FilterSizer({Kind::kClassic, 0}),
                  FilterSizer({Kind::kStandard, 1}), FilterSizer({Kind::kClassic, 1}),
                  FilterSizer({Kind::kStandard, 2}), FilterSizer({Kind::kClassic, 2})};
  const std::size_t kind = layout.kind == Kind::kClassic ? 1 : 0;
  return sizers[std::size_t{2} * static_cast<std::size_t>(layout.lines) + kind].OptimalProbes(bits,
                                                                                              keys);
}

}  // namespace filter

FilterSize SizeAtBitsPerKey(Layout layout, std::uint64_t keys, double bits_per_key) {
  FilterSize size;
  size.bits = filter::BitsAtBitsPerKey(layout, keys, bits_per_key);
  size.probes = OptimalProbes(layout, size.bits, keys);
  size.false_positive_rate = FalsePositiveRate(layout, size.bits, keys, size.probes);
  return size;
}

}  // namespace exactbloom
