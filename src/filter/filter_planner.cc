#include "filter_planner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "block_format.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "ribbon/ribbon_format.h"

namespace exactbloom {

double FilterPlan::FalsePositiveRate() const {
  if (Kind() == FilterKind::kRibbon) {
    return filter::ExpectedRate(filter::ToShape(description_), description_.keys);
  }
  return exactbloom::FalsePositiveRate(ToBloomKind(Kind()), description_.bits, description_.keys,
                                       description_.probes);
}

namespace filter {
namespace {

constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 53;

// Returns the most keys that fit. They do up to some number, and beyond it here and there, but not
// for `step` keys in a row, or that share of the keys.
template <typename Fits>
std::uint64_t FindMostKeys(std::uint64_t step, Fits fits, double share = 0.0) {
  std::uint64_t low = 0;
  std::uint64_t high = kMostKeys;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  constexpr double kMostOfShare = 4096.0;  // larger blocks are of one kind up to the end
  step += static_cast<std::uint64_t>(std::min(kMostOfShare, share * static_cast<double>(low)));
  for (std::uint64_t keys = std::min(low + step, kMostKeys); keys > low; --keys) {
    if (fits(keys)) return keys;
  }
  return low;
}

}  // namespace

FilterKind Planner::Bloom() const {
  return options.kind == FilterKind::kStandardBloom ? FilterKind::kStandardBloom
                                                    : FilterKind::kClassicBloom;
}

bool Planner::IsRibbon(std::uint64_t keys) const {
  return options.kind == FilterKind::kRibbon && (keys == 0 || FitsRibbon(keys));
}

bool Planner::MayBeRibbon(std::uint64_t keys) const {
  return !options.kind && keys != 0 && FitsRibbon(keys);
}

// The limit of blocks holds with any trailer: a plan may be finished with another number of keys
// than it was made for.
std::uint64_t Planner::BloomBitsWithin(std::uint64_t keys, std::uint64_t block_bytes) const {
  const std::size_t trailer_bytes = TrailerBytes(keys, options.hash_seed);
  if (block_bytes <= trailer_bytes) return 0;
  return std::min(block_bytes - trailer_bytes, options.block_bytes_limit - 1 - kMostTrailerBytes) *
         8;
}

double Planner::WantedBloomBits(std::uint64_t keys) const {
  if (keys == 0) return 8.0;
  if (!IsSizedByRate()) return LineBits(keys, options.bits_per_key);
  const auto size = SmallestFilter(ToBloomKind(Bloom()), keys, options.false_positive_rate);
  if (!size) return std::numeric_limits<double>::infinity();
  return static_cast<double>(ArrayBytes(size->bits) * 8);
}

Planner::BloomSize Planner::SizeBloom(std::uint64_t keys) const {
  const double wanted = WantedBloomBits(keys);
  const auto most = static_cast<double>(BloomBitsWithin(keys, kBlockBytesLimit));
  const auto bits = static_cast<std::uint64_t>(std::min(wanted, most));
  return {bits, bits / 8 + TrailerBytes(keys, options.hash_seed), wanted > most};
}

FilterPlan Planner::DescribeBloom(std::uint64_t keys, std::uint64_t bits) const {
  FilterPlan plan;
  plan.description_.kind = Bloom();
  plan.description_.keys = keys;
  plan.description_.hash_seed = options.hash_seed;
  plan.description_.bits = bits;
  plan.description_.probes = OptimalProbes(ToBloomKind(Bloom()), bits, keys);
  plan.block_bytes_ =
      static_cast<std::size_t>(ArrayBytes(bits) + TrailerBytes(keys, options.hash_seed));
  return plan;
}

std::optional<FilterPlan> Planner::PlanBloomWithin(std::uint64_t keys,
                                                   std::uint64_t block_bytes) const {
  const std::uint64_t bits = BloomBitsWithin(keys, block_bytes);
  if (bits == 0) return std::nullopt;
  return DescribeBloom(keys, bits);
}

FilterPlan Planner::DescribeRibbon(std::uint64_t keys, const RibbonShape& shape) const {
  FilterPlan plan;
  plan.description_ = Describe(shape, keys, options.hash_seed);
  plan.block_bytes_ = static_cast<std::size_t>(RibbonBlockBytes(shape, keys, options.hash_seed));
  return plan;
}

std::optional<FilterPlan> Planner::PlanRibbonWithin(std::uint64_t keys,
                                                    std::uint64_t block_bytes) const {
  const auto shape =
      ShapeWithin(keys, options.hash_seed, std::min(block_bytes, options.block_bytes_limit - 1));
  if (!shape) return std::nullopt;
  return DescribeRibbon(keys, *shape);
}

FilterPlan Planner::PlanRibbonOfRate(std::uint64_t keys) const {
  const std::uint64_t most = options.block_bytes_limit - 1;
  FilterPlan plan = DescribeRibbon(keys, ShapeOfRate(keys, options.false_positive_rate));
  plan.keeps_rate_ = plan.block_bytes_ <= most;
  if (plan.keeps_rate_) return plan;
  plan = *PlanRibbonWithin(keys, most);
  plan.is_cut_ = true;
  return plan;
}

FilterPlan Planner::PlanRibbon(std::uint64_t keys) const {
  if (keys != 0 && IsSizedByRate()) return PlanRibbonOfRate(keys);
  const double bits_per_key = std::min(options.bits_per_key, kMaxRibbonBitsPerKey);
  const double wanted = std::floor(static_cast<double>(keys) * bits_per_key / 8.0) +
                        static_cast<double>(RibbonTrailerBytes(keys, options.hash_seed));
  const auto most = static_cast<double>(options.block_bytes_limit - 1);
  FilterPlan plan = *PlanRibbonWithin(keys, static_cast<std::uint64_t>(std::min(wanted, most)));
  plan.is_cut_ = wanted > most;
  return plan;
}

// Whether a Bloom filter in as many bytes has a higher rate. With many keys it has, up to the most
// bits of a Ribbon filter, if that one stops any. Its rate, which takes a microsecond, is then not
// computed, since RocksDB asks for the size with each data block.
bool Planner::IsBetter(const FilterPlan& ribbon, std::uint64_t bloom_block_bytes) const {
  constexpr std::uint64_t kManyKeys = 2000;
  const FilterDescription& described = ribbon.Description();
  const bool stops_keys = described.columns != 0 || described.wide_slots != 0;
  const std::uint64_t keys = described.keys;
  if (keys >= kManyKeys && stops_keys && bloom_block_bytes <= ribbon.BlockBytes()) return true;
  const auto bloom = PlanBloomWithin(keys, bloom_block_bytes);
  return !bloom || ribbon.FalsePositiveRate() < bloom->FalsePositiveRate();
}

std::optional<FilterPlan> Planner::ChooseRibbon(std::uint64_t keys, const BloomSize& bloom) const {
  if (!MayBeRibbon(keys)) return std::nullopt;
  std::optional<FilterPlan> ribbon;
  bool is_better = false;
  if (IsSizedByRate()) {
    ribbon = PlanRibbon(keys);
    is_better = bloom.is_cut ? IsBetter(*ribbon, bloom.block_bytes)
                             : !ribbon->IsCut() && ribbon->BlockBytes() < bloom.block_bytes;
  } else if (bloom.bits <= 8 * kLineBytes * kLinesOfEitherKind) {
    ribbon = PlanRibbonWithin(keys, bloom.block_bytes);
    is_better = ribbon && IsBetter(*ribbon, bloom.block_bytes);
    if (ribbon) ribbon->is_cut_ = bloom.is_cut;
  } else {
    ribbon = PlanRibbon(keys);
    const bool has_all_bits = options.bits_per_key <= kMaxRibbonBitsPerKey;
    is_better = IsBetter(*ribbon, has_all_bits ? ribbon->BlockBytes() : bloom.block_bytes);
  }
  if (!is_better) return std::nullopt;
  return ribbon;
}

FilterPlan Planner::Plan(std::uint64_t keys) const {
  if (IsRibbon(keys)) return PlanRibbon(keys);
  const BloomSize bloom = SizeBloom(keys);
  if (const auto ribbon = ChooseRibbon(keys, bloom)) return *ribbon;
  FilterPlan plan = DescribeBloom(keys, bloom.bits);
  plan.is_cut_ = bloom.is_cut;
  return plan;
}

std::optional<FilterPlan> Planner::PlanWithin(std::uint64_t keys, std::uint64_t block_bytes) const {
  if (IsRibbon(keys)) return PlanRibbonWithin(keys, block_bytes);
  if (MayBeRibbon(keys)) {
    const auto ribbon = PlanRibbonWithin(keys, block_bytes);
    if (ribbon && IsBetter(*ribbon, block_bytes)) return ribbon;
  }
  return PlanBloomWithin(keys, block_bytes);
}

Planner::Size Planner::SizeBlock(std::uint64_t keys) const {
  const auto size_of = [](const FilterPlan& ribbon) {
    return Size{ribbon.BlockBytes(), ribbon.IsCut()};
  };
  if (IsRibbon(keys)) return size_of(PlanRibbon(keys));
  const BloomSize bloom = SizeBloom(keys);
  const auto ribbon = ChooseRibbon(keys, bloom);
  return ribbon ? size_of(*ribbon) : Size{bloom.block_bytes, bloom.is_cut};
}

std::uint64_t Planner::BlockBytes(std::uint64_t keys) const { return SizeBlock(keys).bytes; }

// The trailer stores the number of keys, and each byte that it takes leaves room for fewer. The
// search begins with the keys that fit beside a trailer without that number.
std::uint64_t Planner::BloomKeysOfRate(std::uint64_t block_bytes) const {
  const auto keys_beside = [&](std::uint64_t keys) -> std::uint64_t {
    const std::uint64_t bits = BloomBitsWithin(keys, block_bytes);
    if (bits == 0) return 0;
    return MostKeys(ToBloomKind(Bloom()), bits, options.false_positive_rate).value_or(0);
  };
  std::uint64_t most = keys_beside(0);
  while (most != 0) {
    const std::uint64_t fitting = std::min(most, keys_beside(most));
    const std::uint64_t shorter = (std::uint64_t{1} << 8U * (KeyBytes(most) - 1)) - 1;
    if (fitting > shorter) return fitting;
    most = shorter;
  }
  return 0;
}

std::uint64_t Planner::KeysOfRate(std::uint64_t block_bytes) const {
  const std::uint64_t bloom = MayBeBloom() ? BloomKeysOfRate(block_bytes) : 0;
  // A column grows by steps of at most so many bytes.
  constexpr std::uint64_t kStepBytes = 9;
  const std::uint64_t ribbon = FindMostKeys(8 * kStepBytes, [&](std::uint64_t keys) {
    if (!IsRibbon(keys) && !MayBeRibbon(keys)) return false;
    const FilterPlan plan = PlanRibbonOfRate(keys);
    return !plan.IsCut() && plan.BlockBytes() <= block_bytes;
  });
  return std::max(bloom, ribbon);
}

std::uint64_t Planner::KeysThatFit(std::uint64_t block_bytes) const {
  if (IsSizedByRate()) return KeysOfRate(block_bytes);
  // Where another kind is chosen, blocks shrink by less than a line and a trailer.
  const double step_bits = 8.0 * (kLineBytes + kMostTrailerBytes);
  constexpr double kMostStep = 4096.0;
  const auto step =
      static_cast<std::uint64_t>(std::min(kMostStep, step_bits / options.bits_per_key));
  const auto fits = [&](std::uint64_t keys) {
    const Size size = SizeBlock(keys);
    return !size.is_cut && size.bytes <= block_bytes;
  };
  // Up to as many bits a Ribbon filter, which has at most kMaxRibbonBitsPerKey, may have a lower
  // rate than a Bloom filter, by their rounding for one number of keys and not for the next.
  constexpr double kNearestRates = 45.0;
  const bool may_shrink = !options.kind && options.bits_per_key > kMaxRibbonBitsPerKey &&
                          options.bits_per_key < kNearestRates;
  return FindMostKeys(step, fits,
                      may_shrink ? options.bits_per_key / kMaxRibbonBitsPerKey - 1.0 : 0.0);
}

}  // namespace filter
}  // namespace exactbloom
