// Whether a policy's size_ratio is that of the tree whose filters it sizes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/own_policy.h"

namespace exactbloom::support {

// A level that has tables.
struct LevelKeys {
  int level = 0;
  std::uint64_t keys = 0;
};

// The keys of the deepest level over those of the next one above it; nothing if there is none but
// level 0. The levels are in order.
inline std::optional<double> DeepestRatio(const std::vector<LevelKeys>& levels) {
  if (levels.size() < 2 || levels[levels.size() - 2].level == 0) return std::nullopt;
  const auto above = static_cast<double>(levels[levels.size() - 2].keys);
  return static_cast<double>(levels.back().keys) / std::max(1.0, above);
}

// The largest factor between a policy's size ratio and the tree's own.
inline constexpr double kSizeRatioTolerance = 2.0;

// Whether a tree of the real ratio may be divided by the one that a policy was told.
inline bool IsRatioClose(double real, double told) {
  return real >= told / kSizeRatioTolerance && real <= told * kSizeRatioTolerance;
}

// What does not fit, in a sentence; empty if the policy has no fixed size_ratio, or one that fits.
inline std::string SizeRatioMisfit(const rocksdb::FilterPolicy* policy,
                                   const std::vector<LevelKeys>& levels) {
  const BloomFilterPolicy* ours = OwnPolicy(policy);
  if (ours == nullptr || ours->Options().size_ratio <= 0.0) return "";
  const std::optional<double> real = DeepestRatio(levels);
  const double told = ours->Options().size_ratio;
  if (!real || IsRatioClose(*real, told)) return "";
  return fmt::format(
      "size_ratio is {:g}, but level {} has {:.2g} times the keys of level {}: the filters take "
      "more or less memory than bits_per_key says",
      told, levels.back().level, *real, levels[levels.size() - 2].level);
}

}  // namespace exactbloom::support
