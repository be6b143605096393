#include "exactbloom/sizing.h"

#include <algorithm>
#include <cmath>

#include "sizing_search.h"

namespace exactbloom {
namespace {

// With the best number of probes.
double Log2RateOf(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int most_probes) {
  const int probes = analysis::BestProbes(kind, bits, keys, most_probes);
  return analysis::ScaledFalsePositiveRate(kind, bits, keys, probes).Log2();
}

bool IsMostProbes(int probes) { return probes >= 1 && probes <= kMaxAnalysisProbes; }

}  // namespace

using analysis::IsTarget;
using analysis::kMaxCount;
using analysis::kMaxSizedCount;

int OptimalProbes(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int most_probes) {
  if (!analysis::IsGeometry(kind, bits, 0, 1)) return 0;
  if (!IsMostProbes(most_probes)) return 0;
  if (keys < 1 || keys > kMaxCount) return 1;
  return analysis::BestProbes(kind, bits, keys, most_probes);
}

std::optional<FilterSize> SmallestFilter(BloomKind kind, std::uint64_t keys, double target,
                                         int most_probes) {
  if (!IsMostProbes(most_probes)) return std::nullopt;
  if (keys < 1 || keys > kMaxSizedCount || !IsTarget(target)) return std::nullopt;
  const double log2_target = std::log2(target);
  const double usual = -log2_target / kLn2 * static_cast<double>(keys);
  const auto guess = static_cast<std::uint64_t>(std::min(usual, static_cast<double>(kMaxCount)));
  const auto bits = analysis::LeastUpTo(kMaxCount, guess, [&](std::uint64_t m) {
    return Log2RateOf(kind, m, keys, most_probes) <= log2_target;
  });
  if (!bits) return std::nullopt;
  return FilterSize{*bits, analysis::BestProbes(kind, *bits, keys, most_probes),
                    std::exp2(Log2RateOf(kind, *bits, keys, most_probes))};
}

std::optional<std::uint64_t> MostKeys(BloomKind kind, std::uint64_t bits, double target,
                                      int most_probes) {
  if (!IsMostProbes(most_probes)) return std::nullopt;
  if (!analysis::IsGeometry(kind, bits, 0, 1)) return std::nullopt;
  if (bits > kMaxSizedCount || !IsTarget(target)) return std::nullopt;
  const double log2_target = std::log2(target);
  const auto exceeds = [&](std::uint64_t keys) {
    return Log2RateOf(kind, bits, keys, most_probes) > log2_target;
  };
  const double usual = static_cast<double>(bits) * kLn2 / -log2_target;
  const auto guess = static_cast<std::uint64_t>(std::min(usual, static_cast<double>(kMaxCount)));
  const auto too_many = analysis::LeastUpTo(kMaxCount, guess, exceeds);
  return too_many ? *too_many - 1 : kMaxCount;
}

}  // namespace exactbloom
