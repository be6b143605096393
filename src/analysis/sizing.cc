#include "exactbloom/sizing.h"

#include <algorithm>
#include <cmath>

#include "sizing_search.h"

namespace exactbloom {
namespace {

// With the best number of probes.
double Log2RateOf(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  const int probes = analysis::BestProbes(layout, bits, keys);
  return analysis::ScaledFalsePositiveRate(layout, bits, keys, probes).Log2();
}

}  // namespace

using analysis::IsTarget;
using analysis::kMaxCount;
using analysis::kMaxSizedCount;

int OptimalProbes(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  if (!analysis::IsGeometry(layout, bits, 0, 1)) return 0;
  if (keys < 1 || keys > kMaxCount) return 1;
  return analysis::BestProbes(layout, bits, keys);
}

std::optional<FilterSize> SmallestFilter(Layout layout, std::uint64_t keys, double target) {
  if (!layout.IsValid()) return std::nullopt;
  if (keys < 1 || keys > kMaxSizedCount || !IsTarget(target)) return std::nullopt;
  const double log2_target = std::log2(target);
  const std::uint64_t unit = layout.Granularity();
  const std::uint64_t most = kMaxCount / unit;
  const double usual = -log2_target / kLn2 * static_cast<double>(keys) / static_cast<double>(unit);
  const auto guess = static_cast<std::uint64_t>(std::min(usual, static_cast<double>(most)));
  const auto units = analysis::LeastUpTo(most, guess, [&](std::uint64_t x) {
    return Log2RateOf(layout, x * unit, keys) <= log2_target;
  });
  if (!units) return std::nullopt;
  const std::uint64_t bits = *units * unit;
  return FilterSize{bits, analysis::BestProbes(layout, bits, keys),
                    std::exp2(Log2RateOf(layout, bits, keys))};
}

std::optional<std::uint64_t> MostKeys(Layout layout, std::uint64_t bits, double target) {
  if (!analysis::IsGeometry(layout, bits, 0, 1)) return std::nullopt;
  if (bits > kMaxSizedCount || !IsTarget(target)) return std::nullopt;
  const double log2_target = std::log2(target);
  const auto exceeds = [&](std::uint64_t keys) {
    return Log2RateOf(layout, bits, keys) > log2_target;
  };
  const double usual = static_cast<double>(bits) * kLn2 / -log2_target;
  const auto guess = static_cast<std::uint64_t>(std::min(usual, static_cast<double>(kMaxCount)));
  const auto too_many = analysis::LeastUpTo(kMaxCount, guess, exceeds);
  return too_many ? *too_many - 1 : kMaxCount;
}

}  // namespace exactbloom
