#include "exactbloom/levels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
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

constexpr double kLn2Squared = kLn2 * kLn2;

// The continuous rule: rate_i proportional to n_i, that is b_i = b - log2(n_i) / ln 2 bits per key,
// over the runs for which it is positive.
std::vector<double> ProportionalBitsPerKey(const std::vector<double>& keys, double total_bits) {
  std::vector<bool> filtered(keys.size(), true);
  std::vector<double> bits_per_key(keys.size(), 0.0);
  for (bool settled = false; !settled;) {
    double sum = 0.0;
    double offset = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!filtered[i]) continue;
      sum += keys[i];
      offset += keys[i] * std::log(keys[i]) / kLn2Squared;
    }
    if (sum == 0.0) break;
    settled = true;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!filtered[i]) continue;
      bits_per_key[i] = (total_bits + offset) / sum - std::log(keys[i]) / kLn2Squared;
      if (bits_per_key[i] > 0.0) continue;
      bits_per_key[i] = 0.0;
      filtered[i] = false;
      settled = false;
    }
  }
  return bits_per_key;
}

// A division of bits among sorted runs, improved step by step from the continuous rule. Parameters
// as those of PlanLevels, which must outlive the division.
class Division {
 public:
  Division(Layout layout, const std::vector<std::uint64_t>& keys, std::uint64_t total_bits,
           BottommostFilter bottommost)
      : layout_(layout),
        unit_(layout.Granularity()),
        keys_(keys),
        ribbon_(bottommost == BottommostFilter::kRibbon) {
    const std::vector<double> sizes(keys.begin(), keys.end());
    const std::vector<double> bits_per_key =
        ProportionalBitsPerKey(sizes, static_cast<double>(total_bits));
    std::uint64_t left = total_bits / unit_;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const double wanted = bits_per_key[i] * sizes[i] / static_cast<double>(unit_);
      units_.push_back(std::min(left, static_cast<std::uint64_t>(wanted)));
      left -= units_.back();
    }
    const auto largest = std::max_element(keys.begin(), keys.end()) - keys.begin();
    units_[static_cast<std::size_t>(largest)] += left;
    for (std::size_t i = 0; i < keys.size(); ++i) rates_.push_back(Rate(i, units_[i]));
  }

  // Moves ever smaller amounts between any two runs, down to `least_bits`, for as long as that
  // helps.
  void Improve(std::uint64_t least_bits = 1) {
    const std::uint64_t most = *std::max_element(units_.begin(), units_.end());
    std::uint64_t amount = 1;
    while (amount <= most / 8) amount *= 2;
    const std::uint64_t least = std::max<std::uint64_t>(1, least_bits / unit_);
    for (; amount >= least; amount /= 2) {
      while (ImproveBy(amount)) {
      }
    }
  }

  LevelPlan Plan() const {
    LevelPlan plan;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      FilterSize size;
      if (rates_[i] < 1.0) {
        const std::uint64_t bits = units_[i] * unit_;
        const int probes = IsRibbon(i) ? 0 : OptimalProbes(layout_, bits, keys_[i]);
        size = {bits, probes, rates_[i]};
      }
      plan.filters.push_back(size);
      plan.wasted_reads += rates_[i];
    }
    return plan;
  }

 private:
  bool IsRibbon(std::size_t run) const { return ribbon_ && run + 1 == keys_.size(); }

  double Rate(std::size_t run, std::uint64_t units) const {
    const std::uint64_t bits = units * unit_;
    if (IsRibbon(run)) return RibbonFalsePositiveRate(keys_[run], bits);
    const int probes = OptimalProbes(layout_, bits, keys_[run]);
    return probes == 0 ? 1.0 : FalsePositiveRate(layout_, bits, keys_[run], probes);
  }

  bool ImproveBy(std::uint64_t amount) {
    bool improved = false;
    std::vector<double> with_more(keys_.size());
    for (std::size_t to = 0; to < keys_.size(); ++to) with_more[to] = Rate(to, units_[to] + amount);
    for (std::size_t from = 0; from < keys_.size(); ++from) {
      if (units_[from] < amount) continue;
      const double loss = Rate(from, units_[from] - amount) - rates_[from];
      std::size_t best = from;
      double gain = loss * (1.0 + 1e-9) + 1e-300;
      for (std::size_t to = 0; to < keys_.size(); ++to) {
        if (to == from || rates_[to] - with_more[to] <= gain) continue;
        best = to;
        gain = rates_[to] - with_more[to];
      }
      if (best == from) continue;
      units_[from] -= amount;
      units_[best] += amount;
      for (const std::size_t run : {from, best}) {
        rates_[run] = Rate(run, units_[run]);
        with_more[run] = Rate(run, units_[run] + amount);
      }
      improved = true;
    }
    return improved;
  }

  Layout layout_;
  std::uint64_t unit_;
  const std::vector<std::uint64_t>& keys_;
  bool ribbon_;  // the last run
  std::vector<std::uint64_t> units_;
  std::vector<double> rates_;
};

}  // namespace

std::optional<LevelPlan> PlanLevels(Layout layout, const std::vector<std::uint64_t>& keys,
                                    std::uint64_t total_bits, BottommostFilter bottommost) {
  if (!AreRuns(layout, keys) || total_bits > analysis::kMaxCount) return std::nullopt;
  Division division(layout, keys, total_bits, bottommost);
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
  return ProportionalBitsPerKey(keys, bits_per_key * sum);
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
    Division division(layout, keys, total_bits, bottommost);
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
