// The sizes of a builder's filters: m, and the exact k* from a memory of earlier answers.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "block_format.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter_sizer.h"
#include "filter_internals.h"

namespace exactbloom {
namespace {

// The memory of one layout, shared by all builders of the process. Never destroyed: a database may
// still compact in its own threads while the process ends.
FilterSizer& SizerOf(Layout layout) {
  using Sizers = std::array<FilterSizer, 2 * (kMaxLines + 1)>;
  static Sizers& sizers =
      *new Sizers{FilterSizer({FilterKind::kStandard, 0}), FilterSizer({FilterKind::kClassic, 0}),
                  FilterSizer({FilterKind::kStandard, 1}), FilterSizer({FilterKind::kClassic, 1}),
                  FilterSizer({FilterKind::kStandard, 2}), FilterSizer({FilterKind::kClassic, 2})};
  const auto lines = static_cast<std::size_t>(layout.Lines());
  return sizers[2 * lines + (layout.kind == FilterKind::kClassic ? 1 : 0)];
}

std::uint64_t LeastBits(Layout layout) { return filter::ArrayBytes(layout.LeastBits()) * 8; }

// The m that the options ask for, in whole bytes; a real number, since it may exceed all limits.
double WantedBits(const BloomFilterBuilder::Options& options, std::uint64_t keys) {
  const double target = options.false_positive_rate;
  if (target > 0.0 && keys > 0) {
    const auto size = SizerOf(options.layout).SmallestFilter(keys, target);
    if (!size) return std::numeric_limits<double>::infinity();
    return static_cast<double>(filter::ArrayBytes(size->bits) * 8);
  }
  const auto grain = static_cast<double>(8 * options.layout.ByteGranularity());
  const double wanted = std::ceil(static_cast<double>(keys) * options.bits_per_key / grain) * grain;
  return std::max(wanted, static_cast<double>(LeastBits(options.layout)));
}

// The bits of the largest array in a block of at most `block_bytes` that holds `keys` keys; 0 if
// there is none. The limit of blocks holds with any trailer: a plan may be finished with another
// number of keys than it was made for.
std::uint64_t BitsThatFit(const BloomFilterBuilder::Options& options, std::uint64_t keys,
                          std::uint64_t block_bytes) {
  const std::size_t trailer_bytes = filter::TrailerBytes(keys, options.hash_seed);
  if (block_bytes <= trailer_bytes) return 0;
  const std::uint64_t bytes = std::min(block_bytes - trailer_bytes,
                                       options.block_bytes_limit - 1 - filter::kMostTrailerBytes);
  const std::uint64_t bits = (bytes - bytes % options.layout.ByteGranularity()) * 8;
  return bits < LeastBits(options.layout) ? 0 : bits;
}

// The m of the builder's own plan.
std::uint64_t PlannedBits(const BloomFilterBuilder::Options& options, std::uint64_t keys) {
  const auto most = static_cast<double>(BitsThatFit(options, keys, kBlockBytesLimit));
  return static_cast<std::uint64_t>(std::min(WantedBits(options, keys), most));
}

// The most keys that `bits` hold at the options' bits per key or rate.
std::uint64_t KeysOfBits(const BloomFilterBuilder::Options& options, std::uint64_t bits) {
  if (bits == 0) return 0;
  if (options.false_positive_rate > 0.0) {
    return MostKeys(options.layout, bits, options.false_positive_rate).value_or(0);
  }
  return static_cast<std::uint64_t>(static_cast<double>(bits) / options.bits_per_key);
}

}  // namespace

double BlockPlan::FalsePositiveRate() const {
  return exactbloom::FalsePositiveRate(description_.layout, description_.bits, description_.keys,
                                       description_.probes);
}

BlockPlan BloomFilterBuilder::PlanOf(std::uint64_t keys, std::uint64_t bits) const {
  BlockPlan plan;
  const int probes = SizerOf(options_.layout).OptimalProbes(bits, keys);
  plan.description_ = {options_.layout, probes, bits, keys, options_.hash_seed};
  plan.block_bytes_ = static_cast<std::size_t>(filter::BlockBytes(plan.description_));
  return plan;
}

BlockPlan BloomFilterBuilder::Plan(std::uint64_t keys) const {
  const double wanted = WantedBits(options_, keys);
  const auto most = static_cast<double>(BitsThatFit(options_, keys, kBlockBytesLimit));
  BlockPlan plan = PlanOf(keys, static_cast<std::uint64_t>(std::min(wanted, most)));
  plan.is_cut_ = wanted > most;
  return plan;
}

std::optional<BlockPlan> BloomFilterBuilder::PlanWithin(std::uint64_t keys,
                                                        std::uint64_t block_bytes) const {
  const std::uint64_t bits = BitsThatFit(options_, keys, block_bytes);
  if (bits == 0) return std::nullopt;
  return PlanOf(keys, bits);
}

std::uint64_t BloomFilterBuilder::KeysThatFit(std::uint64_t block_bytes) const {
  // The trailer holds the number of keys, and with each byte that it takes for that fewer keys fit.
  // No more than these: here it takes none.
  std::uint64_t most = KeysOfBits(options_, BitsThatFit(options_, 0, block_bytes));
  while (most != 0) {
    const std::uint64_t fitting =
        std::min(most, KeysOfBits(options_, BitsThatFit(options_, most, block_bytes)));
    const std::uint64_t shorter = (std::uint64_t{1} << 8U * (filter::KeyBytes(most) - 1)) - 1;
    if (fitting > shorter) return fitting;
    most = shorter;
  }
  return 0;
}

std::uint64_t filter::FilterInternals::BlockBytes(const BloomFilterBuilder& builder,
                                                  std::uint64_t keys) {
  const BloomFilterBuilder::Options& options = builder.options_;
  return ArrayBytes(PlannedBits(options, keys)) + TrailerBytes(keys, options.hash_seed);
}

bool filter::FilterInternals::IsSizedByRate(const BloomFilterBuilder& builder) {
  return builder.options_.false_positive_rate > 0.0;
}

FilterSize SizeAtBitsPerKey(Layout layout, std::uint64_t keys, double bits_per_key) {
  BloomFilterBuilder::Options options;
  options.layout = layout;
  options.bits_per_key = bits_per_key;
  const std::uint64_t bits = PlannedBits(options, keys);
  const int probes = OptimalProbes(layout, bits, keys);
  return {bits, probes, FalsePositiveRate(layout, bits, keys, probes)};
}

}  // namespace exactbloom
