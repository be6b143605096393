// exactbloom plan --levels: how the levels of a tree share filter memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "exactbloom/levels.h"
#include "plan.h"
#include "plugin/policy_options.h"
#include "support/text_table.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

LevelPlan PlanTree(const PlanArguments& arguments) {
  const auto& levels = arguments.levels;
  std::optional<LevelPlan> plan;
  if (arguments.wasted_reads || arguments.rate) {
    const auto runs = static_cast<double>(levels.size());
    const double target = arguments.wasted_reads ? *arguments.wasted_reads : *arguments.rate * runs;
    plan = PlanLevelsForTarget(arguments.layout, levels, target, arguments.bottommost);
    if (!plan) {
      Refuse(fmt::format("{:g} wasted reads per lookup are outside the range of 0 to {} levels",
                         target, levels.size()));
    }
    return *plan;
  }
  std::uint64_t total_bits = 0;
  if (arguments.memory_bytes) {
    total_bits = BitsInMemory(arguments, levels.size());
  } else {
    CheckBitsPerKey(*arguments.bits_per_key);
    const auto keys = std::accumulate(levels.begin(), levels.end(), std::uint64_t{0});
    total_bits = BitsAt({arguments.layout.kind, 0}, keys, *arguments.bits_per_key);
  }
  plan = PlanLevels(arguments.layout, levels, total_bits, arguments.bottommost);
  if (!plan) Refuse("these levels cannot be planned: at most 64, each of 1 to 1e12 keys");
  return *plan;
}

// The option string for the whole tree. Level 0, and every level above the first that was given,
// gets the bits of the first given one.
std::string PolicyOf(const PlanArguments& arguments, const std::vector<FilterPlan>& levels) {
  const auto given = static_cast<int>(levels.size());
  const int last = arguments.last_level.value_or(given);
  if (last < given - 1) {
    Refuse(fmt::format("--last-level {} is too small for {} levels", last, given));
  }
  BloomFilterPolicyOptions options;
  options.lines = arguments.layout.Lines();
  options.bottommost = arguments.bottommost;
  for (int level = 0; level <= last; ++level) {
    const int index = std::max(0, level - (last - given + 1));
    const FilterPlan& plan = levels[static_cast<std::size_t>(index)];
    options.level_bits.push_back(ConfiguredBitsPerKey(plan));
  }
  return FormatPolicy(arguments.layout.kind, options);
}

void PrintTree(const PlanArguments& arguments, const std::vector<FilterPlan>& levels,
               double wasted_reads, const std::string& policy) {
  support::TextTable table({"level", "keys", "bits/key", "k", "false-positive rate", "bytes"});
  FilterPlan total;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const FilterPlan& plan = levels[i];
    total.keys += plan.keys;
    total.bits += plan.bits;
    bytes += plan.MemoryBytes();
    const bool ribbon = plan.bits > 0 && plan.probes == 0;
    table.AddRow({fmt::format("{}", i + 1), fmt::format("{}", plan.keys),
                  fmt::format("{:.4f}", plan.BitsPerKey()),
                  ribbon ? "ribbon" : fmt::format("{}", plan.probes), FormatRate(plan.rate),
                  fmt::format("{}", plan.MemoryBytes())});
  }
  double equal = 0.0;
  for (const FilterPlan& plan : levels) {
    equal +=
        PlanOf(arguments.layout, plan.keys, BitsAt(arguments.layout, plan.keys, total.BitsPerKey()))
            .rate;
  }
  fmt::print("{} Bloom filters for {} levels, {} keys\n\n{}\n", Describe(arguments.layout),
             levels.size(), total.keys, table.Format());
  fmt::print("{:.4f} bits per key in all, {} bytes\n", total.BitsPerKey(), bytes);
  fmt::print(
      "{:.6f} wasted reads for each lookup of an absent key; {:.6f} with equal bits per key\n",
      wasted_reads, equal);
  fmt::print("\nfilter_policy={}\n", policy);
}

}  // namespace

void RunLevels(const PlanArguments& arguments) {
  for (const std::uint64_t keys : arguments.levels) CheckKeys(keys);
  const LevelPlan tree = PlanTree(arguments);
  std::vector<FilterPlan> levels;
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < arguments.levels.size(); ++i) {
    const FilterSize& size = tree.filters[i];
    levels.push_back({arguments.levels[i], size.bits, size.probes, size.false_positive_rate});
    rows.push_back(JsonOf(levels.back()));
  }
  const std::string policy = PolicyOf(arguments, levels);
  if (arguments.json) {
    return PrintJson(
        {{"levels", rows}, {"wasted_reads", Number(tree.wasted_reads)}, {"policy", policy}});
  }
  PrintTree(arguments, levels, tree.wasted_reads, policy);
}

}  // namespace exactbloom::tool
