// exactbloom plan: the filter for a number of keys, or for the levels of a tree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/levels.h"
#include "exactbloom/sizing.h"
#include "plugin/filter_builder.h"
#include "plugin/policy_options.h"
#include "src/filter/block_format.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "tool/support/errors.h"
#include "tool/support/text_table.h"

namespace exactbloom::tool {
namespace {

constexpr double kMostKeys = 1e12;

struct PlannedFilter {
  std::uint64_t keys = 0;
  std::uint64_t bits = 0;  // of the array, or of a Ribbon filter's block; 0: no filter
  int probes = 0;          // 0: a Ribbon filter
  double rate = 1.0;

  double BitsPerKey() const { return static_cast<double>(bits) / static_cast<double>(keys); }
  // The bits that an ideal filter of this rate needs, as a share of these.
  double Efficiency() const { return -std::log2(rate) / BitsPerKey(); }
  bool IsRibbon() const { return bits > 0 && probes == 0; }
  std::uint64_t MemoryBytes() const {
    if (bits == 0 || IsRibbon()) return bits / 8;
    return filter::ArrayBytes(bits) + filter::TrailerBytes(keys, /*hash_seed=*/0);
  }
};

[[noreturn]] void RefusePlan(const std::string& what) { throw support::InputError(what); }

void CheckBitsPerKey(double bits_per_key) {
  if (bits_per_key >= kMinBitsPerKey && bits_per_key <= kMaxBitsPerKey) return;
  RefusePlan(fmt::format("{:g} bits per key are outside the range of {:g} to {:g}", bits_per_key,
                         kMinBitsPerKey, kMaxBitsPerKey));
}

void CheckKeys(std::uint64_t keys) {
  if (keys >= 1 && static_cast<double>(keys) <= kMostKeys) return;
  RefusePlan(fmt::format("{} keys are outside the range of 1 to {:g}", keys, kMostKeys));
}

FilterKind KindOf(const PlanArguments& arguments) { return FilterKindOf(arguments.kind); }

PlannedFilter PlanBloom(FilterKind kind, std::uint64_t keys, std::uint64_t bits) {
  const int probes = bits == 0 ? 0 : OptimalProbes(kind, bits, keys);
  if (probes == 0) return {keys, 0, 0, 1.0};
  return {keys, bits, probes, FalsePositiveRate(kind, bits, keys, probes)};
}

// Whole bytes, as a builder makes them, but without the limit of one block: a plan
// may be for the keys of many tables.
std::uint64_t BitsAt(std::uint64_t keys, double bits_per_key) {
  const double bytes = std::ceil(static_cast<double>(keys) * bits_per_key / 8.0);
  return static_cast<std::uint64_t>(std::max(bytes, 1.0) * 8.0);
}

// The bits of the arrays of filters of these keys in the given memory.
std::uint64_t BitsInMemory(const PlanArguments& arguments,
                           const std::vector<std::uint64_t>& filters) {
  std::uint64_t trailers = 0;
  for (const std::uint64_t keys : filters) trailers += filter::TrailerBytes(keys, /*hash_seed=*/0);
  if (*arguments.memory_bytes <= trailers) {
    RefusePlan(fmt::format("--memory {} is no more than the trailers of {} take, {} bytes",
                           *arguments.memory_bytes, Counted(filters.size(), "filter"), trailers));
  }
  return (*arguments.memory_bytes - trailers) * 8;
}

// The bits per key with which a table of these keys gets at least the planned bits, rounded up to
// thousandths.
double ConfiguredBitsPerKey(const PlannedFilter& plan) {
  constexpr double kSteps = 1000.0;
  return std::min(kMaxBitsPerKey, std::ceil(plan.BitsPerKey() * kSteps - 1e-9) / kSteps);
}

nlohmann::json PlanJson(const PlannedFilter& plan) {
  return {{"keys", plan.keys},
          {"m", plan.bits},
          {"k", plan.probes},
          {"bits_per_key", plan.BitsPerKey()},
          {"exact", plan.rate},
          {"memory_bytes", plan.MemoryBytes()},
          {"efficiency", plan.Efficiency()}};
}

using support::Cells;

const Cells kColumns = {"keys", "bits/key", "k", "false-positive rate", "size"};

Cells CellsOf(const PlannedFilter& plan) {
  return {plan.keys, fmt::format("{:.4f}", plan.BitsPerKey()),
          plan.IsRibbon() ? "ribbon" : std::to_string(plan.probes), FormatExactRate(plan.rate),
          FormatBytes(plan.MemoryBytes())};
}

std::uint64_t BitsAskedFor(const PlanArguments& arguments) {
  if (arguments.bits_per_key) {
    CheckBitsPerKey(*arguments.bits_per_key);
    return BitsAt(*arguments.keys, *arguments.bits_per_key);
  }
  if (arguments.memory_bytes) return BitsInMemory(arguments, {*arguments.keys});
  const auto size = SmallestFilter(KindOf(arguments), *arguments.keys, *arguments.rate);
  if (!size) {
    RefusePlan(fmt::format("--fpr {:g} must lie between 0 and 1, both excluded", *arguments.rate));
  }
  return size->bits;
}

// As exact_ribbon builds it: a Bloom filter for few keys.
PlannedFilter PlanRibbon(const PlanArguments& arguments) {
  const std::uint64_t keys = *arguments.keys;
  FilterBuilder::Options options;
  options.ribbon = true;
  if (arguments.bits_per_key) CheckBitsPerKey(*arguments.bits_per_key);
  options.bits_per_key = arguments.bits_per_key.value_or(options.bits_per_key);
  options.false_positive_rate = arguments.rate.value_or(0.0);
  const auto builder = FilterBuilder::Create(options);
  if (!builder) {
    RefusePlan(fmt::format("--fpr {:g} is outside the range of {:g} to {:g}", *arguments.rate,
                           kMinTargetRate, kMaxTargetRate));
  }
  const std::optional<FilterPlan> plan = arguments.memory_bytes
                                             ? builder->PlanWithin(keys, *arguments.memory_bytes)
                                             : builder->Plan(keys);
  if (!plan) return {};
  const double wanted_bytes = std::min(static_cast<double>(arguments.memory_bytes.value_or(0)),
                                       kMaxBitsPerKey / 8.0 * static_cast<double>(keys));
  if (plan->IsCut() || wanted_bytes > static_cast<double>(kBlockBytesLimit)) {
    RefusePlan(
        fmt::format("one block of at most {} bytes cannot hold a filter of {} keys: spread "
                    "them over more tables",
                    kBlockBytesLimit, keys));
  }
  if (plan->IsRibbon()) return {keys, 8 * plan->BlockBytes(), 0, plan->FalsePositiveRate()};
  return PlanBloom(FilterKind::kClassic, keys,
                   8 * (plan->BlockBytes() - filter::TrailerBytes(keys, /*hash_seed=*/0)));
}

void PrintPlan(FilterKind kind, const PlannedFilter& plan, const std::string& policy) {
  support::TextTable table(kColumns);
  table.AddRow(CellsOf(plan));
  fmt::print("{} filter of {} bits\n\n{}", plan.IsRibbon() ? "Ribbon" : Describe(kind) + " Bloom",
             support::WithCommas(plan.bits), table.Format());
  if (plan.rate > 0.0 && plan.rate < 1.0) {
    fmt::print("\n{}", Wrapped(fmt::format("efficiency {:.4f}: an ideal filter of this rate would "
                                           "need that share of the bits",
                                           plan.Efficiency())));
  }
  fmt::print("\nfilter_policy={}\n", policy);
  if (plan.MemoryBytes() >= kBlockBytesLimit) {
    fmt::print("{}", Wrapped(fmt::format("One block cannot be that large (limit {}): spread the "
                                         "keys over more tables.",
                                         FormatBytes(kBlockBytesLimit))));
  }
}

void PlanOneFilter(const PlanArguments& arguments) {
  CheckKeys(*arguments.keys);
  PolicyOptions options = arguments.kind;
  const PlannedFilter plan =
      HasRibbon(options) ? PlanRibbon(arguments)
                         : PlanBloom(KindOf(arguments), *arguments.keys, BitsAskedFor(arguments));
  if (plan.bits == 0) RefusePlan("no filter is that small");
  options.bits_per_key = ConfiguredBitsPerKey(plan);
  // The block may take fewer.
  if (plan.IsRibbon() && arguments.bits_per_key) options.bits_per_key = *arguments.bits_per_key;
  const std::string policy = FormatPolicy(options);
  if (!arguments.json) return PrintPlan(KindOf(arguments), plan, policy);
  nlohmann::json document = PlanJson(plan);
  document["policy"] = policy;
  PrintJson(document);
}

// As exactbloom has them: beside classic filters.
bool WithRibbon(const PlanArguments& arguments) {
  return arguments.ribbon && arguments.kind == PolicyKind::kClassicBloom;
}

LevelPlan PlanTree(const PlanArguments& arguments) {
  const auto& levels = arguments.levels;
  if (arguments.wasted_reads) {
    const double wanted = *arguments.wasted_reads;
    if (const auto plan =
            PlanLevelsForTarget(KindOf(arguments), levels, wanted, WithRibbon(arguments))) {
      return *plan;
    }
    RefusePlan(
        fmt::format("{:g} wasted reads per lookup are outside the range of 0 to {} levels, or take "
                    "more than {} bits per key",
                    wanted, levels.size(), kMaxBitsPerKey));
  }
  std::uint64_t total_bits = 0;
  if (arguments.memory_bytes) {
    total_bits = BitsInMemory(arguments, levels);
  } else {
    CheckBitsPerKey(*arguments.bits_per_key);
    const auto keys = std::accumulate(levels.begin(), levels.end(), std::uint64_t{0});
    total_bits = BitsAt(keys, *arguments.bits_per_key);
  }
  if (const auto plan = PlanLevels(KindOf(arguments), levels, total_bits, WithRibbon(arguments))) {
    return *plan;
  }
  RefusePlan("these levels cannot be planned: at most 64, each of 1 to 1e12 keys");
}

PlannedFilter SumOf(const std::vector<PlannedFilter>& levels) {
  PlannedFilter sum;
  for (const PlannedFilter& level : levels) {
    sum.keys += level.keys;
    sum.bits += level.bits;
  }
  return sum;
}

// The policy that divides the bits of such a tree in the same way; none where its Bloom filters are
// of another kind.
std::string PolicyOfTree(const PlanArguments& arguments, const std::vector<PlannedFilter>& levels) {
  PolicyOptions options(PolicyKind::kExactBloom);
  if (arguments.kind != PolicyKind::kClassicBloom) return "";
  options.bits_per_key = ConfiguredBitsPerKey(SumOf(levels));
  options.ribbon = arguments.ribbon;
  return FormatPolicy(options);
}

// The policy that gives each level of leveled compaction its bits, without a listener. `deepest` is
// the number of the largest level; levels above the smallest get the bits of that one. None for
// Ribbon filters, which that policy does not make.
std::string PolicyByLevel(const PlanArguments& arguments, const std::vector<PlannedFilter>& levels,
                          std::size_t deepest) {
  if (WithRibbon(arguments)) return "";
  PolicyOptions options = arguments.kind;
  for (const PlannedFilter& level : levels)
    options.level_bits.push_back(ConfiguredBitsPerKey(level));
  options.level_bits.insert(options.level_bits.begin(), deepest + 1 - levels.size(),
                            options.level_bits.front());
  // Invalid with more levels than the option takes.
  return ValidatePolicyOptions(options).ok() ? FormatPolicy(options) : "";
}

struct Policies {
  std::string by_tree;        // empty: there is none
  std::string by_level;       // the same, for a tree that begins in level 1
  std::string by_last_level;  // the same, for a tree that ends in the last of RocksDB's 7 levels
};

Policies PoliciesOf(const PlanArguments& arguments, const std::vector<PlannedFilter>& levels) {
  constexpr std::size_t kLastLevel = 6;
  const std::size_t deepest = levels.size();
  return {PolicyOfTree(arguments, levels), PolicyByLevel(arguments, levels, deepest),
          PolicyByLevel(arguments, levels, std::max(deepest, kLastLevel))};
}

void PrintPolicies(const Policies& policies) {
  if (!policies.by_tree.empty()) fmt::print("\nfilter_policy={}\n", policies.by_tree);
  if (policies.by_level.empty()) return;
  fmt::print("\nwithout a listener, for leveled compaction into levels 1, 2 and so on:\n");
  fmt::print("filter_policy={}\n", policies.by_level);
  fmt::print("with level_compaction_dynamic_level_bytes, into the last of 7 levels:\n");
  fmt::print("filter_policy={}\n", policies.by_last_level);
}

void PrintTree(const PlanArguments& arguments, const std::vector<PlannedFilter>& levels,
               double wasted_reads, const Policies& policies) {
  const PlannedFilter total = SumOf(levels);
  Cells columns = {"level"};
  columns.insert(columns.end(), kColumns.begin(), kColumns.end());
  support::TextTable table(columns);
  std::uint64_t bytes = 0;
  double equal = 0.0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    table.AddRow({i + 1}, CellsOf(levels[i]));
    bytes += levels[i].MemoryBytes();
    const std::uint64_t keys = levels[i].keys;
    equal += PlanBloom(KindOf(arguments), keys, BitsAt(keys, total.BitsPerKey())).rate;
  }
  fmt::print("{} filters for {} levels, {} keys\n\n{}\n",
             WithRibbon(arguments) ? "Ribbon" : Describe(KindOf(arguments)) + " Bloom",
             levels.size(), support::WithCommas(total.keys), table.Format());
  fmt::print("{:.4f} bits per key in all, {}\n", total.BitsPerKey(), FormatBytes(bytes));
  fmt::print("{}", Wrapped(fmt::format("{} wasted reads per 1,000 lookups of absent keys; {} with "
                                       "equal bits per key",
                                       PerThousand(wasted_reads), PerThousand(equal))));
  PrintPolicies(policies);
}

void CheckLevels(const PlanArguments& arguments) {
  if (arguments.kind == PolicyKind::kExactRibbon) {
    RefusePlan("--levels plans Ribbon filters without --kind exact_ribbon");
  }
  for (const std::uint64_t keys : arguments.levels) CheckKeys(keys);
  const auto larger = std::is_sorted_until(arguments.levels.begin(), arguments.levels.end());
  if (larger != arguments.levels.end()) {
    RefusePlan(fmt::format("--levels: {} keys come after {}, but the smallest level is the first",
                           *larger, *std::prev(larger)));
  }
  if (arguments.rate) {
    RefusePlan(
        "--fpr is the rate of one filter: give --wasted-reads, the sum of the levels' rates");
  }
}

void PlanLevelsOfTree(const PlanArguments& arguments) {
  CheckLevels(arguments);
  const LevelPlan tree = PlanTree(arguments);
  std::vector<PlannedFilter> levels;
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < arguments.levels.size(); ++i) {
    const FilterSize& size = tree.filters[i];
    levels.push_back({arguments.levels[i], size.bits, size.probes, size.false_positive_rate});
    nlohmann::json& row = rows.emplace_back(PlanJson(levels.back()));
    row["level"] = i + 1;
  }
  const Policies policies = PoliciesOf(arguments, levels);
  if (arguments.json) {
    return PrintJson({{"levels", rows},
                      {"wasted_reads", tree.wasted_reads},
                      {"policy", policies.by_tree},
                      {"policy_by_level", policies.by_level},
                      {"policy_by_last_level", policies.by_last_level}});
  }
  PrintTree(arguments, levels, tree.wasted_reads, policies);
}

}  // namespace

void RunPlan(const PlanArguments& arguments) {
  if (!arguments.levels.empty()) return PlanLevelsOfTree(arguments);
  if (!arguments.keys) RefusePlan("plan: --keys or --levels is required");
  PlanOneFilter(arguments);
}

}  // namespace exactbloom::tool
