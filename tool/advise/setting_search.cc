#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise.h"
#include "plugin/policy_options.h"
#include "src/model/wasted_reads.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

constexpr double kStepsPerBit = 10.0;  // a step costs at most 7% of the wasted reads
// The option of ribbonfilter is the bits of a Bloom filter of the same rate.
constexpr double kBloomBitsPerRibbonBit = 1.4;

double OptionOf(const TreePlan& setting, double bits_per_key) {
  return setting.ribbonfilter ? kBloomBitsPerRibbonBit * bits_per_key : bits_per_key;
}

// The setting with another number of bits per key, in steps.
TreePlan WithSteps(TreePlan setting, int steps, const std::vector<Tree>& trees) {
  setting.options.bits_per_key = steps / kStepsPerBit;
  return PlanOf(setting.options, trees, setting.ribbonfilter);
}

// Of the tables that get filters.
std::uint64_t KeysOf(const std::vector<Tree>& trees) {
  std::uint64_t keys = 0;
  for (const Tree& tree : trees) keys += tree.FilteredKeys();
  return keys;
}

// Returns the last step of fits .. too_many - 1 for which `holds`, which is true for `fits`.
template <typename Holds>
int LastStep(int fits, int too_many, const Holds& holds) {
  while (too_many - fits > 1) {
    const int middle = fits + (too_many - fits) / 2;
    (holds(middle) ? fits : too_many) = middle;
  }
  return fits;
}

// The most steps for which the filters take at most `memory` bytes; 0 if there is no such number.
int MostSteps(const TreePlan& setting, const std::vector<Tree>& trees, std::uint64_t memory) {
  const int most = static_cast<int>(OptionOf(setting, kMostAdvisedBits) * kStepsPerBit);
  const int fits = LastStep(0, most + 1, [&](int steps) {
    return WithSteps(setting, steps, trees).filters.bytes <= memory;
  });
  if (!FollowsTree(setting.options)) return fits;
  // The division leaves room for runs that are still to come, which the next writes may fill.
  const std::uint64_t keys = std::max<std::uint64_t>(1, KeysOf(trees));
  const double average = 8.0 * static_cast<double>(memory) / static_cast<double>(keys);
  return static_cast<int>(std::min<double>(fits, std::floor(average * kStepsPerBit)));
}

// The trees, those of one sorted run with a second one: lookups of the keys in the first run read
// nothing in vain, but each asks the table of the next flush.
std::vector<Tree> WithNextFlush(std::vector<Tree> trees) {
  constexpr std::uint64_t kPart = 10;  // of the keys, as a level has of those below
  for (Tree& tree : trees) {
    if (tree.Runs() != 1) continue;
    TableGroup flush;
    flush.tables = 1;
    flush.keys = flush.most_keys = std::max<std::uint64_t>(1, tree.Keys() / kPart);
    flush.asked = 1.0;
    tree.levels[0].push_back(flush);
  }
  return trees;
}

// Of these steps, the fewest that cost no more than kFreeReads of all reads; all of them where
// lookups find no key.
int FewestSteps(const TreePlan& setting, const std::vector<Tree>& trees, int most, double present) {
  if (present == 0.0 || most == 0) return most;
  const std::vector<Tree> flushed = WithNextFlush(trees);
  const int usual = static_cast<int>(OptionOf(setting, kUsualBits) * kStepsPerBit);
  const double wasted = WithSteps(setting, std::max(usual, most), flushed).filters.wasted_reads;
  const double read = present * static_cast<double>(trees.size());
  const int too_few = LastStep(0, most, [&](int steps) {
    const double then = WithSteps(setting, steps, flushed).filters.wasted_reads;
    return model::MoreReads(wasted, then, read) > kFreeReads;
  });
  return too_few + 1;
}

// RocksDB's policy needs no library, the plain ones no listener, and the other by default no
// option.
int ComplexityOf(const TreePlan& candidate) {
  if (candidate.ribbonfilter) return 0;
  if (candidate.options.kind != PolicyKind::kExactBloom) return 1;
  return candidate.options.ribbon ? 2 : 3;
}

// The kinds of settings that are compared, with what they keep of `base`; not planned yet.
std::vector<TreePlan> KindsOfSettings(const std::vector<Tree>& trees, const PolicyOptions& base) {
  std::vector<TreePlan> kinds;
  // Its partitions without keys are empty blocks, at which MultiGet fails.
  const bool has_empty_partitions = std::any_of(trees.begin(), trees.end(), [](const Tree& tree) {
    return tree.table_options.partition_filters && !tree.table_options.whole_key_filtering;
  });
  if (!HasBudget(base)) {
    if (base.hash_seed == 0 && !has_empty_partitions) kinds.emplace_back().ribbonfilter = true;
    for (const PolicyKind plain : {PolicyKind::kClassicBloom, PolicyKind::kExactRibbon}) {
      kinds.emplace_back().options = plain;
      kinds.back().options.hash_seed = base.hash_seed;
    }
    const bool divides =
        std::any_of(trees.begin(), trees.end(), [](const Tree& tree) { return tree.Runs() > 1; });
    if (!divides) return kinds;
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

}  // namespace

bool IsAsked(const Tree& tree) {
  for (const auto& [level, groups] : tree.levels) {
    for (const TableGroup& group : groups) {
      if (group.asked > 0.0) return true;
    }
  }
  return false;
}

std::vector<TreePlan> FindCandidates(const std::vector<Tree>& trees, const PolicyOptions& base,
                                     std::uint64_t memory, double present) {
  PolicyOptions none;
  none.bits_per_key = 0.0;
  const double unfiltered = PlanOf(none, trees).filters.wasted_reads;
  std::vector<TreePlan> candidates;
  for (const TreePlan& setting : KindsOfSettings(trees, base)) {
    const int most = MostSteps(setting, trees, memory);
    TreePlan plan = WithSteps(setting, FewestSteps(setting, trees, most, present), trees);
    if (plan.filters.wasted_reads < unfiltered) candidates.push_back(std::move(plan));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& one, const auto& other) {
    return one.filters.wasted_reads < other.filters.wasted_reads;
  });
  return candidates;
}

std::string WhyNoCandidates(const Tree& tree, const PolicyOptions& base, std::uint64_t memory,
                            double present) {
  if (!IsAsked(tree) && present == 1.0) {
    return fmt::format(
        "no lookup reads a table of column family {} in vain, so that no other setting is better "
        "than the present one, which takes more than {}",
        Escaped(tree.column_family), FormatBytes(memory));
  }
  if (!IsAsked(tree)) {
    return fmt::format(
        "no lookup asks a table of column family {} that lacks its key: the keys are "
        "outside "
        "of the ranges of all its tables",
        Escaped(tree.column_family));
  }
  constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 52;
  if (!FindCandidates({tree}, base, kUnlimited).empty()) {
    return fmt::format(
        "the memory is too small for a filter of the {} of column family {}, whose share is {}",
        Counted(tree.Keys(), "key"), Escaped(tree.column_family), FormatBytes(memory));
  }
  if (tree.optimizes_for_hits) {
    return fmt::format(
        "all tables of column family {} that lookups ask are in its deepest level, which "
        "optimize_filters_for_hits leaves without filters",
        Escaped(tree.column_family));
  }
  return fmt::format("the memory budget of column family {} is too small for a filter: {}",
                     Escaped(tree.column_family), FormatBytes(BytesOfBudget(base)));
}

std::optional<std::size_t> Choose(const std::vector<TreePlan>& candidates, double read,
                                  const std::function<bool(const TreePlan&)>& serves) {
  const double least = read + candidates.front().filters.wasted_reads;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const TreePlan& candidate = candidates[i];
    if (best && ComplexityOf(candidate) >= ComplexityOf(candidates[*best])) continue;
    const double gain = candidate.ribbonfilter ? kLibraryGain : kWorthwhileGain;
    const bool is_near = read + candidate.filters.wasted_reads <= least * (1.0 + gain);
    if (is_near && (!serves || serves(candidate))) best = i;
  }
  return best;
}

}  // namespace exactbloom::tool
