#include "exactbloom/levels.h"

#include <algorithm>
#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "run_division.h"
#include "scaled_rate.h"
#include "sizing_search.h"

namespace exactbloom {
namespace {

constexpr std::size_t kMostRuns = 64;

// A tree of unknown size is planned with so many keys in its largest run that the rates do not
// depend on them.
constexpr std::size_t kPlannedLevels = 4;
constexpr double kPlannedKeys = 1e9;
constexpr int kStepsOfBottommost = 1024;

bool AreRuns(Layout layout, const std::vector<std::uint64_t>& keys) {
  if (!layout.IsValid() || keys.empty() || keys.size() > kMostRuns) return false;
  return std::all_of(keys.begin(), keys.end(),
                     [](std::uint64_t n) { return n >= 1 && n <= analysis::kMaxSizedCount; });
}

// Runs of these keys, with Ribbon filters in the large ones if they are allowed.
std::vector<analysis::EqualRuns> RunsOf(const std::vector<double>& keys, bool ribbon) {
  double all_keys = 0.0;
  for (const double n : keys) all_keys += n;
  std::vector<analysis::EqualRuns> runs;
  runs.reserve(keys.size());
  for (const double n : keys) {
    runs.push_back({n, 1.0, ribbon && n >= analysis::kRibbonLeastPart * all_keys});
  }
  return runs;
}

// Whole bits, or lines, of at most `bits_per_key`.
FilterSize SizeOf(Layout layout, bool ribbon, std::uint64_t keys, double bits_per_key) {
  FilterSize size;
  size.bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys));
  if (ribbon) {
    size.false_positive_rate = RibbonFalsePositiveRate(keys, size.bits);
  } else {
    size.bits = size.bits / layout.Granularity() * layout.Granularity();
    size.probes = OptimalProbes(layout, size.bits, keys);
    if (size.probes != 0) {
      size.false_positive_rate = FalsePositiveRate(layout, size.bits, keys, size.probes);
    }
  }
  return size.false_positive_rate < 1.0 ? size : FilterSize();
}

// A tree of which only the size ratio is known.
class GeometricTree {
 public:
  struct Filters {
    std::vector<LevelFilter> levels;  // the bottommost first
    double wasted_reads = 0.0;
  };

  // Parameters as those of GeometricLevelBits.
  GeometricTree(Layout layout, double size_ratio, double bits_per_key, bool ribbon)
      : layout_(layout), size_ratio_(size_ratio), bits_per_key_(bits_per_key) {
    std::vector<double> keys = {kPlannedKeys};
    while (keys.size() < kPlannedLevels) keys.push_back(keys.back() / size_ratio);
    above_ = RunsOf(keys, ribbon);
    bottommost_ = above_.front();
    above_.erase(above_.begin());
  }

  // The best filters if the bottommost level gets so many bits per key.
  Filters FiltersWith(double bottommost) const {
    // What a level may have that holds nearly all keys above the bottommost.
    const double most_above = size_ratio_ * (1.0 + kLevelBitsTolerance) * bits_per_key_ -
                              (size_ratio_ - 1.0) * bottommost;
    double left = (bits_per_key_ - bottommost) * kPlannedKeys;
    for (const analysis::EqualRuns& run : above_) left += bits_per_key_ * run.keys;
    Filters filters;
    Add(bottommost_, bottommost, &filters);
    const std::vector<double> bits = analysis::DivideAmongRuns(layout_, above_, left);
    for (std::size_t i = 0; i < above_.size(); ++i) {
      Add(above_[i], std::min(bits[i], most_above), &filters);
    }
    return filters;
  }

 private:
  void Add(const analysis::EqualRuns& run, double bits_per_key, Filters* filters) const {
    filters->levels.push_back({bits_per_key, run.ribbon});
    const auto keys = static_cast<std::uint64_t>(run.keys);
    filters->wasted_reads += SizeOf(layout_, run.ribbon, keys, bits_per_key).false_positive_rate;
  }

  Layout layout_;
  double size_ratio_;
  double bits_per_key_;
  analysis::EqualRuns bottommost_;
  std::vector<analysis::EqualRuns> above_;
};

}  // namespace

std::optional<LevelPlan> PlanLevels(Layout layout, const std::vector<std::uint64_t>& keys,
                                    std::uint64_t total_bits, bool ribbon) {
  if (!AreRuns(layout, keys) || total_bits > analysis::kMaxCount) return std::nullopt;
  const auto runs = RunsOf({keys.begin(), keys.end()}, ribbon);
  const std::vector<double> bits_per_key =
      analysis::DivideAmongRuns(layout, runs, static_cast<double>(total_bits));
  LevelPlan plan;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    plan.filters.push_back(SizeOf(layout, runs[i].ribbon, keys[i], bits_per_key[i]));
    plan.wasted_reads += plan.filters.back().false_positive_rate;
  }
  return plan;
}

std::optional<LevelPlan> PlanLevelsForTarget(Layout layout, const std::vector<std::uint64_t>& keys,
                                             double wasted_reads, bool ribbon) {
  if (!(wasted_reads > 0.0 && wasted_reads < static_cast<double>(keys.size()))) return std::nullopt;
  double most = 0.0;
  for (const std::uint64_t n : keys) most += kMaxBitsPerKey * static_cast<double>(n);
  std::uint64_t low = 0;
  most = std::min(most, static_cast<double>(analysis::kMaxCount));
  auto high = static_cast<std::uint64_t>(most);
  std::optional<LevelPlan> plan = PlanLevels(layout, keys, high, ribbon);
  if (!plan || plan->wasted_reads > wasted_reads) return std::nullopt;
  while (high - low > std::max<std::uint64_t>(1, high / 1024)) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto candidate = PlanLevels(layout, keys, middle, ribbon);
    if (candidate->wasted_reads <= wasted_reads) {
      high = middle;
      plan = candidate;
    } else {
      low = middle;
    }
  }
  return plan;
}

std::vector<LevelFilter> GeometricLevelBits(Layout layout, double size_ratio, double bits_per_key,
                                            bool ribbon) {
  const bool valid = layout.IsValid() && size_ratio > 1.0 && size_ratio <= kMaxSizeRatio &&
                     bits_per_key >= 0.0 && bits_per_key <= kMaxBitsPerKey;
  if (!valid) return {};
  const GeometricTree tree(layout, size_ratio, bits_per_key, ribbon);
  GeometricTree::Filters best = tree.FiltersWith(0.0);
  if (bits_per_key < kMinBitsPerKey) return best.levels;
  const auto at = [&](int step) {
    return tree.FiltersWith(bits_per_key * step / kStepsOfBottommost);
  };
  auto low = static_cast<int>(std::ceil(kMinBitsPerKey / bits_per_key * kStepsOfBottommost));
  int high = kStepsOfBottommost;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (at(middle + 1).wasted_reads < at(middle).wasted_reads) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (at(low).wasted_reads < best.wasted_reads) best = at(low);
  return best.levels;
}

}  // namespace exactbloom
