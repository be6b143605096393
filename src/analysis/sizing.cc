#include "exactbloom/sizing.h"

#include <algorithm>
#include <cmath>

#include "sizing_search.h"

namespace exactbloom {

using analysis::BestChoice;
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
  const double usual = analysis::UsualBits(static_cast<double>(keys), target);
  const auto bits = analysis::FewestBits(
      layout, std::log2(target), usual,
      [&](std::uint64_t candidate) { return BestChoice(layout, candidate, keys).log2_rate; });
  if (!bits) return std::nullopt;
  const analysis::Choice choice = BestChoice(layout, *bits, keys);
  return FilterSize{*bits, choice.probes, std::exp2(choice.log2_rate)};
}

std::optional<std::uint64_t> MostKeys(Layout layout, std::uint64_t bits, double target) {
  if (!analysis::IsGeometry(layout, bits, 0, 1)) return std::nullopt;
  if (bits > kMaxSizedCount || !IsTarget(target)) return std::nullopt;
  const double log2_target = std::log2(target);
  const auto exceeds = [&](std::uint64_t keys) {
    return BestChoice(layout, bits, keys).log2_rate > log2_target;
  };
  const double usual = static_cast<double>(bits) * kLn2 / -log2_target;
  const auto guess = static_cast<std::uint64_t>(std::min(usual, static_cast<double>(kMaxCount)));
  const auto too_many = analysis::LeastUpTo(kMaxCount, guess, exceeds);
  return too_many ? *too_many - 1 : kMaxCount;
}

}  // namespace exactbloom
