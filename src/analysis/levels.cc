#include "exactbloom/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "exactbloom/false_positive_rate.h"
#include "false_positive_rate.h"
#include "sizing_search.h"

namespace exactbloom {
namespace {

constexpr std::size_t kMostRuns = 64;
constexpr double kLn2Squared = analysis::kLn2 * analysis::kLn2;

bool AreRuns(Layout layout, const std::vector<std::uint64_t>& keys) {
  if (layout.lines < 0 || layout.lines > 2 || keys.empty() || keys.size() > kMostRuns) return false;
  return std::all_of(keys.begin(), keys.end(),
                     [](std::uint64_t n) { return n >= 1 && n <= analysis::kMaxSizedCount; });
}

// The continuous rule: rate_i proportional to n_i, that is b_i = b - log2(n_i) / ln 2 bits per key,
// over the runs that this leaves with any bits at all.
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

class Division {
 public:
  Division(Layout layout, const std::vector<std::uint64_t>& keys, std::uint64_t total_bits)
      : layout_(layout), unit_(BitGranularity(layout)), keys_(keys) {
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

  // Run by run, the best division of every amount among the runs so far.
  void Enumerate() {
    const std::uint64_t total = std::accumulate(units_.begin(), units_.end(), std::uint64_t{0});
    std::vector<double> best(total + 1, 0.0);
    std::vector<std::vector<std::uint64_t>> share(keys_.size());
    for (std::size_t run = 0; run < keys_.size(); ++run) {
      std::vector<double> rates;
      for (std::uint64_t u = 0; u <= total; ++u) rates.push_back(Rate(run, u));
      std::vector<double> next(total + 1, std::numeric_limits<double>::infinity());
      share[run].resize(total + 1);
      for (std::uint64_t amount = 0; amount <= total; ++amount) {
        for (std::uint64_t u = 0; u <= amount; ++u) {
          if (best[amount - u] + rates[u] >= next[amount]) continue;
          next[amount] = best[amount - u] + rates[u];
          share[run][amount] = u;
        }
      }
      best = std::move(next);
    }
    std::uint64_t left = total;
    for (std::size_t run = keys_.size(); run-- > 0;) {
      units_[run] = share[run][left];
      left -= units_[run];
      rates_[run] = Rate(run, units_[run]);
    }
  }

  // Moves ever smaller amounts between any two runs for as long as that helps.
  void Improve() {
    const std::uint64_t most = *std::max_element(units_.begin(), units_.end());
    std::uint64_t amount = 1;
    while (amount <= most / 8) amount *= 2;
    for (; amount > 0; amount /= 2) {
      while (ImproveBy(amount)) {
      }
    }
  }

  LevelPlan Plan() const {
    LevelPlan plan;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      FilterSize size;
      if (rates_[i] < 1.0) {
        size = {units_[i] * unit_, OptimalProbes(layout_, units_[i] * unit_, keys_[i]), rates_[i]};
      }
      plan.filters.push_back(size);
      plan.wasted_reads += rates_[i];
    }
    return plan;
  }

 private:
  double Rate(std::size_t run, std::uint64_t units) const {
    const std::uint64_t bits = units * unit_;
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
  std::vector<std::uint64_t> units_;
  std::vector<double> rates_;
};

}  // namespace

std::optional<LevelPlan> PlanLevels(Layout layout, const std::vector<std::uint64_t>& keys,
                                    std::uint64_t total_bits) {
  if (!AreRuns(layout, keys) || total_bits > analysis::kMaxCount) return std::nullopt;
  Division division(layout, keys, total_bits);
  if (total_bits / BitGranularity(layout) <= kMaxEnumeratedUnits) {
    division.Enumerate();
  } else {
    division.Improve();
  }
  return division.Plan();
}

std::optional<LevelPlan> PlanLevelsForTarget(Layout layout, const std::vector<std::uint64_t>& keys,
                                             double wasted_reads) {
  if (!AreRuns(layout, keys)) return std::nullopt;
  if (!(wasted_reads > 0.0 && wasted_reads < static_cast<double>(keys.size()))) return std::nullopt;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (const std::uint64_t n : keys) high += n;
  std::optional<LevelPlan> plan;
  for (;; high *= 2) {
    plan = PlanLevels(layout, keys, high);
    if (!plan) return std::nullopt;
    if (plan->wasted_reads <= wasted_reads) break;
    low = high;
  }
  while (high - low > std::max<std::uint64_t>(1, high / 1024)) {
    const std::uint64_t middle = low + (high - low) / 2;
    auto candidate = PlanLevels(layout, keys, middle);
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

}  // namespace exactbloom
