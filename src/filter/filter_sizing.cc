#include "filter_sizing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "block_format.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter_sizer.h"

namespace exactbloom {
namespace {

std::uint64_t MostArrayBytes(const BloomFilterBuilder::Options& options) {
  const std::uint64_t most = options.block_bytes_limit - 1 - filter::kTrailerBytes;
  return most - most % options.layout.ByteGranularity();
}

// A real number, since it may exceed all limits.
double WantedArrayBytes(const BloomFilterBuilder::Options& options, std::uint64_t keys) {
  const auto granularity = static_cast<double>(options.layout.ByteGranularity());
  const double wanted = static_cast<double>(keys) * options.bits_per_key / 8.0 / granularity;
  return std::ceil(wanted) * granularity;
}

// The memory of one layout and rate, shared by all builders of the process. Never destroyed: a
// database may still compact in its own threads while the process ends.
FilterSizer& SizerFor(Layout layout, double target) {
  using Rule = std::pair<Layout, double>;
  static std::mutex& mutex = *new std::mutex;
  static auto& sizers = *new std::map<Rule, FilterSizer>;
  const std::lock_guard<std::mutex> lock(mutex);
  return sizers.try_emplace(Rule{layout, target}, layout).first->second;
}

// Nothing if the rate needs more bits than a filter can have.
std::optional<std::uint64_t> WantedBitsByRate(const BloomFilterBuilder::Options& options,
                                              std::uint64_t keys) {
  if (keys == 0) return filter::ArrayBytes(options.layout.LeastBits()) * 8;
  const double target = options.false_positive_rate;
  const auto size = SizerFor(options.layout, target).SmallestFilter(keys, target);
  return size ? std::optional(size->bits) : std::nullopt;
}

}  // namespace

namespace filter {

std::uint64_t BitsOf(const BloomFilterBuilder::Options& options, std::uint64_t keys) {
  const std::uint64_t most = MostArrayBytes(options);
  if (options.false_positive_rate > 0.0) {
    return std::min(WantedBitsByRate(options, keys).value_or(most * 8), most * 8);
  }
  const double fewest = static_cast<double>(ArrayBytes(options.layout.LeastBits()));
  const double bytes =
      std::clamp(WantedArrayBytes(options, keys), fewest, static_cast<double>(most));
  return static_cast<std::uint64_t>(bytes) * 8;
}

bool ExceedsBlockLimit(const BloomFilterBuilder::Options& options, std::uint64_t keys) {
  const std::uint64_t most = MostArrayBytes(options);
  if (options.false_positive_rate > 0.0) {
    const auto wanted = WantedBitsByRate(options, keys);
    return !wanted || *wanted > most * 8;
  }
  return WantedArrayBytes(options, keys) > static_cast<double>(most);
}

int RememberedOptimalProbes(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  // Never destroyed, for the same reason.
  using Sizers = std::array<FilterSizer, 2 * (kMaxLines + 1)>;
  static Sizers& sizers =
      *new Sizers{FilterSizer({FilterKind::kStandard, 0}), FilterSizer({FilterKind::kClassic, 0}),
                  FilterSizer({FilterKind::kStandard, 1}), FilterSizer({FilterKind::kClassic, 1}),
                  FilterSizer({FilterKind::kStandard, 2}), FilterSizer({FilterKind::kClassic, 2})};
  const int kind = layout.kind == FilterKind::kClassic ? 1 : 0;
  return sizers[static_cast<std::size_t>(2 * layout.Lines() + kind)].OptimalProbes(bits, keys);
}

}  // namespace filter

FilterSize SizeAtBitsPerKey(Layout layout, std::uint64_t keys, double bits_per_key) {
  BloomFilterBuilder::Options options;
  options.layout = layout;
  options.bits_per_key = bits_per_key;
  FilterSize size;
  size.bits = filter::BitsOf(options, keys);
  size.probes = OptimalProbes(layout, size.bits, keys);
  size.false_positive_rate = FalsePositiveRate(layout, size.bits, keys, size.probes);
  return size;
}

}  // namespace exactbloom
