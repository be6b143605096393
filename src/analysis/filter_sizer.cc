#include "exactbloom/filter_sizer.h"

#include <algorithm>
#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "sizing_search.h"

namespace exactbloom {
namespace {

// The relative widths that each side of a box tries. The first suits the partitions of a table,
// which differ by a few per cent; near a change of k* a box has to be smaller.
constexpr double kWidths[] = {1.0 / 16, 1.0 / 64, 1.0 / 256, 1.0 / 1024};

constexpr std::size_t kMostSizes = 65536;

std::uint64_t Below(std::uint64_t count, double width, std::uint64_t unit) {
  const std::uint64_t units = count / unit;
  const double fewer = std::ceil(static_cast<double>(units) * (1.0 - width));
  return static_cast<std::uint64_t>(std::max(1.0, fewer)) * unit;
}

std::uint64_t Above(std::uint64_t count, double width, std::uint64_t unit) {
  const std::uint64_t units = count / unit;
  const std::uint64_t most = analysis::kMaxCount / unit;
  const double more = std::floor(static_cast<double>(units) * (1.0 + width));
  return std::min(most, static_cast<std::uint64_t>(more)) * unit;
}

}  // namespace

int FilterSizer::OptimalProbes(std::uint64_t bits, std::uint64_t keys) {
  if (!analysis::IsGeometry(layout_, bits, keys, 1) || keys == 0) {
    return exactbloom::OptimalProbes(layout_, bits, keys);
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto probes = FindProbes(bits, keys)) return *probes;
  }
  const Box box = BoxAround(bits, keys);  // takes evaluations of the rate
  const std::lock_guard<std::mutex> lock(mutex_);
  last_box_ = next_box_;
  boxes_[next_box_] = box;
  next_box_ = (next_box_ + 1) % kBoxes;
  return box.probes;
}

std::optional<int> FilterSizer::FindProbes(std::uint64_t bits, std::uint64_t keys) {
  if (boxes_[last_box_].Contains(bits, keys)) return boxes_[last_box_].probes;
  for (std::size_t i = 0; i < kBoxes; ++i) {
    if (!boxes_[i].Contains(bits, keys)) continue;
    last_box_ = i;
    return boxes_[i].probes;
  }
  return std::nullopt;
}

// The two corners are proved separately, since near a change of k* only one of them has to be
// close. At the corner of more bits and fewer keys k* can only be larger, so only larger k are
// compared there; at the other corner, only smaller ones.
FilterSizer::Box FilterSizer::BoxAround(std::uint64_t bits, std::uint64_t keys) const {
  const int probes = exactbloom::OptimalProbes(layout_, bits, keys);
  const std::uint64_t unit = layout_.Granularity();
  Box box = {bits, bits, keys, keys, probes};
  for (const double width : kWidths) {
    const std::uint64_t more_bits = Above(bits, width, unit);
    const std::uint64_t fewer_keys = Below(keys, width, 1);
    if (!analysis::IsBestTowards(layout_, more_bits, fewer_keys, probes, 1)) continue;
    box.most_bits = more_bits;
    box.least_keys = fewer_keys;
    break;
  }
  for (const double width : kWidths) {
    const std::uint64_t fewer_bits = Below(bits, width, unit);
    const std::uint64_t more_keys = Above(keys, width, 1);
    if (!analysis::IsBestTowards(layout_, fewer_bits, more_keys, probes, -1)) continue;
    box.least_bits = fewer_bits;
    box.most_keys = more_keys;
    break;
  }
  return box;
}

// From the nearest remembered filter of the target, at the same bits per key.
double FilterSizer::GuessBits(std::uint64_t keys, double target) const {
  auto near = sizes_.lower_bound({target, keys});
  const auto is_other = [&] { return near == sizes_.end() || near->first.first != target; };
  if (is_other() && near != sizes_.begin()) --near;
  if (is_other()) return analysis::UsualBits(static_cast<double>(keys), target);
  return static_cast<double>(near->second.bits) / static_cast<double>(near->first.second) *
         static_cast<double>(keys);
}

std::optional<FilterSize> FilterSizer::SmallestFilter(std::uint64_t keys, double target) {
  if (keys < 1 || keys > analysis::kMaxSizedCount || !analysis::IsTarget(target) ||
      !layout_.IsValid()) {
    return std::nullopt;
  }
  double guess = 0.0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto known = sizes_.find({target, keys}); known != sizes_.end()) return known->second;
    guess = GuessBits(keys, target);
  }
  const auto bits =
      analysis::FewestBits(layout_, std::log2(target), guess, [&](std::uint64_t candidate) {
        return Log2FalsePositiveRate(layout_, candidate, keys, OptimalProbes(candidate, keys));
      });
  if (!bits) return std::nullopt;
  const int probes = OptimalProbes(*bits, keys);
  const FilterSize size = {*bits, probes, FalsePositiveRate(layout_, *bits, keys, probes)};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sizes_.size() >= kMostSizes) sizes_.clear();
  sizes_.emplace(std::pair(target, keys), size);
  return size;
}

}  // namespace exactbloom
