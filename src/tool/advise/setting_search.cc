#include "setting_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "exactbloom/levels.h"
#include "plugin/policy_options.h"

namespace exactbloom::tool {
namespace {

constexpr double kStepsPerBit = 1000.0;  // more digits of bits per key are useless

double RoundedBits(double bits) {
  return std::clamp(std::round(bits * kStepsPerBit) / kStepsPerBit, 0.0, kMaxBitsPerKey);
}

// The least bits per key, in whole steps, that are enough. If some number is enough, so is any
// larger one.
template <typename IsEnough>
double LeastBits(IsEnough is_enough) {
  int low = 0;
  int high = static_cast<int>(kMaxBitsPerKey * kStepsPerBit);
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (is_enough(RoundedBits(middle / kStepsPerBit)) ? high : low) = middle;
  }
  return RoundedBits(high / kStepsPerBit);
}

class SettingSearch {
 public:
  SettingSearch(const Tree& tree, Constraint constraint, const LookupCosts& costs)
      : tree_(tree), constraint_(constraint), costs_(costs) {}

  std::vector<Candidate> Run() {
    if (constraint_.goal == Goal::kRate) {
      AddSettingsAtRate();
    } else {
      AddSettings();
    }
    std::sort(candidates_.begin(), candidates_.end(), [this](const auto& a, const auto& b) {
      return constraint_.CostOf(a.filters) < constraint_.CostOf(b.filters);
    });
    return std::move(candidates_);
  }

 private:
  bool FiltersTheDeepest() const {
    return tree_.levels.back().deepest && !tree_.deepest_unfiltered;
  }

  bool DoLevelsMove() const {
    const TreeLevel& first = tree_.levels.front();
    const auto all = static_cast<double>(tree_.Keys());
    return tree_.compaction_style != rocksdb::kCompactionStyleLevel ||
           (first.level == 0 && static_cast<double>(first.keys) > kMuchInLevel0 * all);
  }

  void AddSettings() {
    BloomFilterPolicyOptions flat;
    if (!AddAtBestBits(flat)) return;
    const double bits = candidates_.back().options.bits_per_key;
    AddOtherSettings(bits, BottommostFilter::kBloom);
    if (FiltersTheDeepest()) AddOtherSettings(bits, BottommostFilter::kRibbon);
    if (constraint_.goal != Goal::kMemory) return;  // lines need more bits
    BloomFilterPolicyOptions best = candidates_[Choose(candidates_, constraint_)].options;
    const bool best_is_flat = ComplexityOf(best) == 0;
    for (const int lines : {1, kMaxLines}) {
      flat.lines = best.lines = lines;
      AddAtBestBits(flat);
      if (!best_is_flat) AddAtBestBits(best);
    }
  }

  // Adds all settings but the flat one of Bloom filters, with about `bits_per_key` on average.
  void AddOtherSettings(double bits_per_key, BottommostFilter bottommost) {
    const double ratio = tree_.size_multiplier;
    BloomFilterPolicyOptions options;
    options.bottommost = bottommost;
    if (bottommost == BottommostFilter::kRibbon) AddAtBestBits(options);
    if (tree_.Runs() < 2) return;
    options.size_ratio = kAutoSizeRatio;
    AddAtBestBits(options);
    if (tree_.levels.size() < 2 || tree_.is_followed || DoLevelsMove()) return;
    const std::optional<double> real = support::DeepestRatio(tree_.KeysOfLevels());
    options.size_ratio = ratio;
    const bool is_ratio_right = real && support::IsRatioClose(*real, ratio);
    if (is_ratio_right && ratio > 1.0 && ratio <= kMaxSizeRatio) AddAtBestBits(options);
    options.size_ratio = 0.0;
    options.level_bits = DividedBits(bottommost, bits_per_key);
    if (!options.level_bits.empty()) AddAtBestBits(options);
  }

  // All tables at one rate; Ribbon filters are sized by bits alone.
  void AddSettingsAtRate() {
    BloomFilterPolicyOptions options;
    options.fpr = constraint_.value;
    Add(options);
    if (!FiltersTheDeepest()) return;
    options.fpr = 0.0;
    options.bottommost = BottommostFilter::kRibbon;
    std::vector<double> bits;
    for (const TreeLevel& level : tree_.levels) {
      Tree alone = tree_;
      alone.levels = {level};
      bits.push_back(LeastBits([&](double bits_per_key) {
        BloomFilterPolicyOptions tried = options;
        tried.bits_per_key = bits_per_key;
        return constraint_.IsMetBy(FiltersOf(WithFiltersOf(tried, alone), costs_));
      }));
    }
    options.level_bits = BitsByLevel(bits);
    Add(options);
  }

  // The division that wastes the fewest reads, with a level's runs in equal parts; nothing for more
  // runs than can be planned.
  std::vector<double> DividedBits(BottommostFilter bottommost, double bits_per_key) const {
    std::vector<std::uint64_t> keys;
    double total = 0.0;
    double reads = constraint_.value;
    for (const TreeLevel& level : tree_.levels) {
      if (level.deepest && tree_.deepest_unfiltered) {
        reads -= 1.0;
        continue;
      }
      const std::uint64_t of_run = std::max<std::uint64_t>(1, level.keys / level.Runs());
      keys.insert(keys.end(), level.Runs(), of_run);
      total += static_cast<double>(of_run * level.Runs()) * bits_per_key;
    }
    const auto plan = constraint_.goal == Goal::kWastedReads
                          ? PlanLevelsForTarget({}, keys, reads, bottommost)
                          : PlanLevels({}, keys, static_cast<std::uint64_t>(total), bottommost);
    if (!plan) return {};
    std::vector<double> bits;
    std::size_t run = 0;
    for (const TreeLevel& level : tree_.levels) {
      double level_bits = 0.0;
      for (std::uint64_t i = 0; i < level.Runs() && run < keys.size(); ++i, ++run) {
        level_bits += static_cast<double>(plan->filters[run].bits);
      }
      bits.push_back(level_bits / std::max(1.0, static_cast<double>(level.keys)));
    }
    return BitsByLevel(bits);
  }

  // From the bits per key of the levels that have tables: a level without tables takes those of the
  // next level below it.
  std::vector<double> BitsByLevel(const std::vector<double>& bits) const {
    std::vector<double> by_level;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      by_level.resize(static_cast<std::size_t>(tree_.levels[i].level) + 1, RoundedBits(bits[i]));
    }
    return by_level;
  }

  // Adds the setting with the most bits per key that the memory allows, or the fewest that the
  // wanted reads need. Returns whether there is such a number, and a filter.
  bool AddAtBestBits(const BloomFilterPolicyOptions& setting) {
    const bool memory = constraint_.goal == Goal::kMemory;
    const double bits = LeastBits([&](double bits_per_key) {
      const Tree tree = WithFiltersOf(WithBits(setting, bits_per_key), tree_);
      return constraint_.IsMetBy(FiltersOf(tree, costs_)) != memory;
    });
    if (!memory) return Add(WithBits(setting, bits));
    const double most = bits - 1.0 / kStepsPerBit;
    if (!FollowsTree(setting)) return Add(WithBits(setting, most));
    // A rebuild keeps room for runs that are still to come, which the next writes may fill.
    const double average = 8.0 * constraint_.value / static_cast<double>(tree_.Keys());
    return Add(
        WithBits(setting, std::min(most, std::floor(average * kStepsPerBit) / kStepsPerBit)));
  }

  // The setting with other bits per key. Added to all levels alike, they keep the levels' rates in
  // proportion; then `bits_per_key` only says how many are added.
  static BloomFilterPolicyOptions WithBits(BloomFilterPolicyOptions setting, double bits_per_key) {
    for (double& bits : setting.level_bits) {
      if (bits != 0.0) bits = RoundedBits(bits + bits_per_key - kMaxBitsPerKey / 2.0);
    }
    if (setting.level_bits.empty()) setting.bits_per_key = RoundedBits(bits_per_key);
    return setting;
  }

  bool Add(const BloomFilterPolicyOptions& setting) {
    const TreeFilters filters = FiltersOf(WithFiltersOf(setting, tree_), costs_);
    const bool useful = filters.wasted_reads < tree_.Asked();
    if (!useful || !constraint_.IsMetBy(filters)) return false;
    candidates_.push_back({FormatPolicy(FilterKind::kClassic, setting), setting, filters});
    return true;
  }

  const Tree& tree_;
  const Constraint constraint_;
  const LookupCosts& costs_;
  std::vector<Candidate> candidates_;
};

}  // namespace

bool Constraint::IsMetBy(const TreeFilters& filters) const {
  switch (goal) {
    case Goal::kMemory:
      return static_cast<double>(filters.bytes) <= value;
    case Goal::kRate:
      return filters.worst_rate <= value;
    case Goal::kWastedReads:
      return filters.wasted_reads <= value;
  }
  return false;
}

double Constraint::CostOf(const TreeFilters& filters) const {
  return goal == Goal::kMemory ? filters.lookup_nanoseconds : static_cast<double>(filters.bytes);
}

std::vector<Candidate> FindCandidates(const Tree& tree, Constraint constraint,
                                      const LookupCosts& costs) {
  return SettingSearch(tree, constraint, costs).Run();
}

std::size_t Choose(const std::vector<Candidate>& candidates, Constraint constraint) {
  std::vector<double> costs;
  costs.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    costs.push_back(constraint.CostOf(candidate.filters));
  }
  const double least = *std::min_element(costs.begin(), costs.end());
  const auto rank = [&](std::size_t i) {
    const bool close = costs[i] <= least * (1.0 + kWorthwhileGain);
    return std::tuple(!close, ComplexityOf(candidates[i].options), costs[i]);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (rank(i) < rank(best)) best = i;
  }
  return best;
}

Candidate WithBudget(const Candidate& within, const Tree& tree, std::uint64_t bytes,
                     const LookupCosts& costs) {
  Candidate bounded;
  bounded.options = within.options;
  bounded.options.size_ratio = kAutoSizeRatio;
  bounded.options.level_bits.clear();
  bounded.options.memory_budget = bytes;
  bounded.policy = FormatPolicy(FilterKind::kClassic, bounded.options);
  bounded.filters = FiltersOf(WithFiltersOf(bounded.options, tree), costs);
  return bounded;
}

int ComplexityOf(const BloomFilterPolicyOptions& options) {
  return (options.lines != 0 ? 1 : 0) + (options.size_ratio != 0.0 ? 1 : 0) +
         (options.level_bits.empty() ? 0 : 2) +
         (options.bottommost == BottommostFilter::kRibbon ? 1 : 0);
}

}  // namespace exactbloom::tool
