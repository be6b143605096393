#include "exactbloom/levels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "level_division.h"
#include "scaled_rate.h"
#include "sizing_search.h"

namespace exactbloom {
namespace {

constexpr std::size_t kMostRuns = 64;

// A tree of unknown size is planned with runs large enough for their rates not to depend on the
// size, and in steps that change no level's rate by a per cent.
constexpr std::size_t kPlannedLevels = 4;
constexpr double kLeastPlannedKeys = 1e4;
constexpr double kMostPlannedKeys = 1e10;
constexpr std::uint64_t kPlannedSteps = 1 << 17;

bool AreRuns(Layout layout, const std::vector<std::uint64_t>& keys) {
  if (!layout.IsValid() || keys.empty() || keys.size() > kMostRuns) return false;
  return std::all_of(keys.begin(), keys.end(),
                     [](std::uint64_t n) { return n >= 1 && n <= analysis::kMaxSizedCount; });
}

}  // namespace

std::optional<LevelPlan> PlanLevels(Layout layout, const std::vector<std::uint64_t>& keys,
                                    std::uint64_t total_bits, BottommostFilter bottommost) {
  if (!AreRuns(layout, keys) || total_bits > analysis::kMaxCount) return std::nullopt;
  analysis::Division division(layout, keys, total_bits, bottommost);
  division.Improve();
  return division.Plan();
}

std::optional<LevelPlan> PlanLevelsForTarget(Layout layout, const std::vector<std::uint64_t>& keys,
                                             double wasted_reads, BottommostFilter bottommost) {
  if (!AreRuns(layout, keys)) return std::nullopt;
  if (!(wasted_reads > 0.0 && wasted_reads < static_cast<double>(keys.size()))) return std::nullopt;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (const std::uint64_t n : keys) high += n;
  std::optional<LevelPlan> plan;
  for (;; high *= 2) {
    plan = PlanLevels(layout, keys, high, bottommost);
    if (!plan) return std::nullopt;
    if (plan->wasted_reads <= wasted_reads) break;
    low = high;
  }
  while (high - low > std::max<std::uint64_t>(1, high / 1024)) {
    const std::uint64_t middle = low + (high - low) / 2;
    auto candidate = PlanLevels(layout, keys, middle, bottommost);
    if (candidate->wasted_reads <= wasted_reads) {
      high = middle;
      plan = std::move(candidate);
    } else {
      low = middle;
    }
  }
  return plan;
}

std::vector<double> MonkeyBitsPerKey(int levels, double size_ratio, double bits_per_key) {
  const bool valid = levels >= 1 && levels <= static_cast<int>(kMostRuns) && size_ratio > 1.0 &&
                     std::isfinite(size_ratio) && bits_per_key >= 0.0 &&
                     std::isfinite(bits_per_key);
  if (!valid) return {};
  // Sizes relative to the largest level, which keeps them within the range of double.
  std::vector<double> keys;
  for (int level = 1; level <= levels; ++level)
    keys.push_back(std::pow(size_ratio, level - levels));
  double sum = 0.0;
  for (const double n : keys) sum += n;
  return analysis::ProportionalBitsPerKey(keys, bits_per_key * sum);
}

std::vector<double> GeometricLevelBits(Layout layout, double size_ratio, double bits_per_key,
                                       BottommostFilter bottommost) {
  const bool valid = layout.IsValid() && size_ratio > 1.0 && size_ratio <= kMaxSizeRatio &&
                     bits_per_key >= 0.0 && bits_per_key <= kMaxBitsPerKey;
  if (!valid) return {};
  std::vector<std::uint64_t> keys;
  double sum = 0.0;
  for (double n = kLeastPlannedKeys; n <= kMostPlannedKeys && keys.size() < kPlannedLevels;
       n *= size_ratio) {
    keys.push_back(static_cast<std::uint64_t>(n));
    sum += n;
  }
  const auto total_bits = static_cast<std::uint64_t>(sum * bits_per_key);
  std::vector<double> bits(keys.size(), 0.0);
  // The memory of levels that are too large for a filter goes to the levels above.
  for (; !keys.empty(); keys.pop_back(), bottommost = BottommostFilter::kBloom) {
    analysis::Division division(layout, keys, total_bits, bottommost);
    division.Improve(total_bits / kPlannedSteps);
    const LevelPlan plan = division.Plan();
    const auto bits_of = [&](std::size_t run) {
      return static_cast<double>(plan.filters[run].bits) / static_cast<double>(keys[run]);
    };
    if (bits_of(keys.size() - 1) < kMinBitsPerKey) continue;
    for (std::size_t run = 0; run < keys.size(); ++run) {
      bits[bits.size() - 1 - run] = std::min(kMaxBitsPerKey, bits_of(run));
    }
    break;
  }
  const double above_share = 1.0 / size_ratio;
  const double most_above =
      ((1.0 + kLevelBitsTolerance) * bits_per_key - (1.0 - above_share) * bits[0]) / above_share;
  for (std::size_t level = 1; level < bits.size(); ++level) {
    bits[level] = std::min(bits[level], most_above);
  }
  return bits;
}

}  // namespace exactbloom
