#include "exactbloom/levels.h"

#include <algorithm>

#include "exactbloom/false_positive_rate.h"
#include "run_division.h"
#include "scaled_rate.h"
#include "sizing_search.h"

namespace exactbloom {
namespace {

constexpr std::size_t kMostRuns = 64;

bool AreRuns(const std::vector<std::uint64_t>& keys) {
  if (keys.empty() || keys.size() > kMostRuns) return false;
  return std::all_of(keys.begin(), keys.end(),
                     [](std::uint64_t n) { return n >= 1 && n <= analysis::kMaxSizedCount; });
}

// Whole bits of at most `bits_per_key`.
FilterSize SizeOf(FilterKind kind, bool ribbon, std::uint64_t keys, double bits_per_key) {
  FilterSize size;
  size.bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys));
  if (ribbon) {
    size.false_positive_rate = analysis::LargeRibbonRate(bits_per_key);
  } else {
    size.probes = OptimalProbes(kind, size.bits, keys);
    if (size.probes != 0) {
      size.false_positive_rate = FalsePositiveRate(kind, size.bits, keys, size.probes);
    }
  }
  return size.false_positive_rate < 1.0 ? size : FilterSize();
}

}  // namespace

std::optional<LevelPlan> PlanLevels(FilterKind kind, const std::vector<std::uint64_t>& keys,
                                    std::uint64_t total_bits, bool ribbon) {
  if (!AreRuns(keys) || total_bits > analysis::kMaxCount) return std::nullopt;
  std::vector<analysis::EqualRuns> runs;
  runs.reserve(keys.size());
  for (const std::uint64_t n : keys) runs.push_back({static_cast<double>(n), 1.0, ribbon});
  const std::vector<double> bits_per_key =
      analysis::DivideAmongRuns(runs, static_cast<double>(total_bits));
  LevelPlan plan;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    plan.filters.push_back(SizeOf(kind, ribbon, keys[i], bits_per_key[i]));
    plan.wasted_reads += plan.filters.back().false_positive_rate;
  }
  return plan;
}

std::optional<LevelPlan> PlanLevelsForTarget(FilterKind kind,
                                             const std::vector<std::uint64_t>& keys,
                                             double wasted_reads, bool ribbon) {
  if (!(wasted_reads > 0.0 && wasted_reads < static_cast<double>(keys.size()))) return std::nullopt;
  double most = 0.0;
  for (const std::uint64_t n : keys) most += kMaxBitsPerKey * static_cast<double>(n);
  std::uint64_t low = 0;
  most = std::min(most, static_cast<double>(analysis::kMaxCount));
  auto high = static_cast<std::uint64_t>(most);
  std::optional<LevelPlan> plan = PlanLevels(kind, keys, high, ribbon);
  if (!plan || plan->wasted_reads > wasted_reads) return std::nullopt;
  while (high - low > std::max<std::uint64_t>(1, high / 1024)) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto candidate = PlanLevels(kind, keys, middle, ribbon);
    if (candidate->wasted_reads <= wasted_reads) {
      high = middle;
      plan = candidate;
    } else {
      low = middle;
    }
  }
  return plan;
}

}  // namespace exactbloom
