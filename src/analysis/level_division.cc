#include "level_division.h"

#include <algorithm>
#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "sizing_search.h"

namespace exactbloom::analysis {
namespace {

constexpr double kLn2Squared = kLn2 * kLn2;

}  // namespace

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

Division::Division(Layout layout, const std::vector<std::uint64_t>& keys, std::uint64_t total_bits,
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

void Division::Improve(std::uint64_t least_bits) {
  const std::uint64_t most = *std::max_element(units_.begin(), units_.end());
  std::uint64_t amount = 1;
  while (amount <= most / 8) amount *= 2;
  const std::uint64_t least = std::max<std::uint64_t>(1, least_bits / unit_);
  for (; amount >= least; amount /= 2) {
    while (ImproveBy(amount)) {
    }
  }
}

LevelPlan Division::Plan() const {
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

double Division::Rate(std::size_t run, std::uint64_t units) const {
  const std::uint64_t bits = units * unit_;
  if (IsRibbon(run)) return RibbonFalsePositiveRate(keys_[run], bits);
  const int probes = OptimalProbes(layout_, bits, keys_[run]);
  return probes == 0 ? 1.0 : FalsePositiveRate(layout_, bits, keys_[run], probes);
}

bool Division::ImproveBy(std::uint64_t amount) {
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

}  // namespace exactbloom::analysis
