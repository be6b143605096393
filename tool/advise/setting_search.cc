#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise.h"
#include "plugin/policy_options.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

constexpr double kStepsPerBit = 10.0;  // a step costs at most 7% of the wasted reads

// The most bits per key, in whole steps, for which the filters take at most `memory` bytes; 0 if
// there is no such number.
double MostBits(TreePlan setting, const Tree& tree, std::uint64_t memory) {
  PolicyOptions& options = setting.options;
  int fits = 0;
  // The option of ribbonfilter is the bits of a Bloom filter of the same rate.
  const double most = setting.ribbonfilter ? 1.4 * kMostAdvisedBits : kMostAdvisedBits;
  int too_many = static_cast<int>(most * kStepsPerBit) + 1;
  while (too_many - fits > 1) {
    const int middle = fits + (too_many - fits) / 2;
    options.bits_per_key = middle / kStepsPerBit;
    setting = PlanOf(options, tree, setting.ribbonfilter);
    (setting.filters.bytes <= memory ? fits : too_many) = middle;
  }
  if (!FollowsTree(options)) return fits / kStepsPerBit;
  // The division leaves room for runs that are still to come, which the next writes may fill.
  const double average = 8.0 * static_cast<double>(memory) / static_cast<double>(tree.Keys());
  return std::min(static_cast<double>(fits), std::floor(average * kStepsPerBit)) / kStepsPerBit;
}

// RocksDB's policy needs no library, the plain ones no listener, and the other by default no
// option.
int ComplexityOf(const TreePlan& candidate) {
  if (candidate.ribbonfilter) return 0;
  if (candidate.options.kind != PolicyKind::kExactBloom) return 1;
  return candidate.options.ribbon ? 2 : 3;
}

// The kinds of settings that are compared, with what they keep of `base`; not planned yet.
std::vector<TreePlan> KindsOfSettings(const Tree& tree, const PolicyOptions& base) {
  std::vector<TreePlan> kinds;
  const rocksdb::BlockBasedTableOptions& tables = tree.table_options;
  // Its partitions without keys are empty blocks, at which MultiGet fails.
  const bool has_empty_partitions = tables.partition_filters && !tables.whole_key_filtering;
  if (!HasBudget(base)) {
    if (base.hash_seed == 0 && !has_empty_partitions) kinds.emplace_back().ribbonfilter = true;
    for (const PolicyKind plain : {PolicyKind::kClassicBloom, PolicyKind::kExactRibbon}) {
      kinds.emplace_back().options = plain;
      kinds.back().options.hash_seed = base.hash_seed;
    }
    if (tree.Runs() < 2) return kinds;  // there is nothing to divide
  }
  for (const bool ribbon : {false, true}) {
    PolicyOptions& divided = kinds.emplace_back().options = PolicyKind::kExactBloom;
    divided.ribbon = ribbon;
    divided.memory_budget = base.memory_budget;
    divided.covers = base.covers;
    divided.memory_percent = base.memory_percent;
    divided.budget = base.budget;
    divided.hash_seed = base.hash_seed;
  }
  return kinds;
}

// Whether any lookup asks a table of it.
bool IsAsked(const Tree& tree) {
  for (const auto& [level, groups] : tree.levels) {
    for (const TableGroup& group : groups) {
      if (group.asked > 0.0) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<TreePlan> FindCandidates(const Tree& tree, const PolicyOptions& base,
                                     std::uint64_t memory) {
  PolicyOptions none;
  none.bits_per_key = 0.0;
  const double unfiltered = PlanOf(none, tree).filters.wasted_reads;
  std::vector<TreePlan> candidates;
  for (TreePlan& setting : KindsOfSettings(tree, base)) {
    setting.options.bits_per_key = MostBits(setting, tree, memory);
    setting = PlanOf(setting.options, tree, setting.ribbonfilter);
    if (setting.filters.wasted_reads < unfiltered) candidates.push_back(std::move(setting));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& one, const auto& other) {
    return one.filters.wasted_reads < other.filters.wasted_reads;
  });
  return candidates;
}

std::string WhyNoCandidates(const Tree& tree, const PolicyOptions& base, std::uint64_t memory) {
  if (!IsAsked(tree)) {
    return fmt::format(
        "no lookup asks a table of column family {}: the keys are outside of the ranges of all its "
        "tables",
        tree.column_family);
  }
  constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 52;
  if (!FindCandidates(tree, base, kUnlimited).empty()) {
    return fmt::format(
        "the memory is too small for a filter of the {} of column family {}, whose share is {}",
        Counted(tree.Keys(), "key"), tree.column_family, FormatBytes(memory));
  }
  if (tree.optimizes_for_hits) {
    return fmt::format(
        "all tables of column family {} that lookups ask are in its deepest level, which "
        "optimize_filters_for_hits leaves without filters",
        tree.column_family);
  }
  return fmt::format("the memory budget of column family {} is too small for a filter: {}",
                     tree.column_family, FormatBytes(BytesOfBudget(base)));
}

std::size_t Choose(const std::vector<TreePlan>& candidates) {
  const double least = candidates.front().filters.wasted_reads;
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const bool is_simpler = ComplexityOf(candidates[i]) < ComplexityOf(candidates[best]);
    const double gain = candidates[i].ribbonfilter ? kLibraryGain : kWorthwhileGain;
    if (is_simpler && candidates[i].filters.wasted_reads <= least * (1.0 + gain)) best = i;
  }
  return best;
}

}  // namespace exactbloom::tool
