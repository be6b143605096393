#include "exactbloom/filter_sizer.h"

namespace exactbloom {
namespace {

constexpr std::size_t kMostSizes = 65536;

}  // namespace

int FilterSizer::OptimalProbes(std::uint64_t bits, std::uint64_t keys) {
  KnownProbes& known = probes_[keys % kKnownProbes];
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (known.bits == bits && known.keys == keys) return known.probes;
  }
  const int probes = exactbloom::OptimalProbes(layout_, bits, keys);
  const std::lock_guard<std::mutex> lock(mutex_);
  known = {bits, keys, probes};
  return probes;
}

std::optional<FilterSize> FilterSizer::SmallestFilter(std::uint64_t keys, double target) {
  const std::pair<double, std::uint64_t> key(target, keys);
  if (!(target > 0.0)) return std::nullopt;  // NaN has no place in a map
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto known = sizes_.find(key); known != sizes_.end()) return known->second;
  }
  const auto size = exactbloom::SmallestFilter(layout_, keys, target);
  if (!size) return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sizes_.size() >= kMostSizes) sizes_.clear();
  sizes_.emplace(key, *size);
  return size;
}

}  // namespace exactbloom
