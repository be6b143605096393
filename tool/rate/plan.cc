// exactbloom plan: the filter for a number of keys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/sizing.h"
#include "plugin/policy_options.h"
#include "support/errors.h"
#include "support/filter_interfaces.h"
#include "support/text_table.h"
#include "tool/output.h"
#include "tool/rate/built_in_bloom.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

constexpr double kMostKeys = 1e12;

struct PlannedFilter {
  std::uint64_t keys = 0;
  std::uint64_t bits = 0;  // of the array; 0: no filter
  int probes = 0;          // 0: a Ribbon filter
  double rate = 1.0;
  std::uint64_t built_in_bytes = 0;  // of RocksDB's block; 0: not its filter

  double BitsPerKey() const { return static_cast<double>(bits) / static_cast<double>(keys); }
  // The bits that an ideal filter of this rate needs, as a share of these.
  double Efficiency() const { return 0.0 - std::log2(rate) / BitsPerKey(); }
  bool IsRibbon() const { return bits > 0 && probes == 0; }
  std::uint64_t MemoryBytes() const {
    if (bits == 0) return 0;
    if (built_in_bytes > 0) return built_in_bytes;
    return support::ArrayBytes(bits) + (IsRibbon()
                                            ? support::RibbonTrailerBytes(keys, /*hash_seed=*/0)
                                            : support::TrailerBytes(keys, /*hash_seed=*/0));
  }
};

[[noreturn]] void RefusePlan(const std::string& what) { throw support::InputError(what); }

void CheckBitsPerKey(double bits_per_key) {
  if (bits_per_key > 0.0 && bits_per_key <= kMaxBitsPerKey) return;
  RefusePlan(fmt::format("{:g} bits per key: they must be above 0 and at most {:g}", bits_per_key,
                         kMaxBitsPerKey));
}

void CheckRate(double rate) {
  if (rate > 0.0 && rate < 1.0) return;
  RefusePlan(fmt::format("--fpr {:g} must lie between 0 and 1, both excluded", rate));
}

void CheckKeys(std::uint64_t keys) {
  if (keys >= 1 && static_cast<double>(keys) <= kMostKeys) return;
  RefusePlan(fmt::format("{} keys are outside the range of 1 to {:g}", keys, kMostKeys));
}

BloomKind KindOf(const PlanArguments& arguments) { return BloomKindOf(arguments.kind); }

PlannedFilter PlanBloom(BloomKind kind, std::uint64_t keys, std::uint64_t bits) {
  const int probes = bits == 0 ? 0 : OptimalProbes(kind, bits, keys);
  if (probes == 0) return {keys, 0, 0, 1.0};
  return {keys, bits, probes, FalsePositiveRate(kind, bits, keys, probes)};
}

// Whole lines, as a builder makes them, but without the limit of one block: a plan may be for the
// keys of many tables.
std::uint64_t BitsAt(std::uint64_t keys, double bits_per_key) {
  return static_cast<std::uint64_t>(support::LineBits(keys, bits_per_key));
}

// No policy has more bits per key, so a table would not get the planned filter.
void CheckPolicyHas(const PlanArguments& arguments, std::uint64_t bits) {
  if (bits <= BitsAt(arguments.keys, kMaxBitsPerKey)) return;
  const std::string wanted = arguments.rate ? fmt::format("--fpr {:g}", *arguments.rate)
                                            : fmt::format("--memory {}", *arguments.memory_bytes);
  RefusePlan(fmt::format("{} takes more than the {:g} bits per key that a policy has at most",
                         wanted, kMaxBitsPerKey));
}

// The bits of the array of a filter in the given memory.
std::uint64_t BitsInMemory(const PlanArguments& arguments) {
  const std::uint64_t trailer = support::TrailerBytes(arguments.keys, /*hash_seed=*/0);
  if (*arguments.memory_bytes <= trailer) {
    RefusePlan(fmt::format("--memory {} is no more than the trailer takes, {} bytes",
                           *arguments.memory_bytes, trailer));
  }
  return (*arguments.memory_bytes - trailer) * 8;
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
          {"rate", plan.rate},
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

// The bits of the smallest filter of the wanted rate.
std::uint64_t BitsFor(const PlanArguments& arguments) {
  const auto size = SmallestFilter(KindOf(arguments), arguments.keys, *arguments.rate);
  return size ? size->bits : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t BitsAskedFor(const PlanArguments& arguments) {
  if (arguments.bits_per_key) {
    CheckBitsPerKey(*arguments.bits_per_key);
    return BitsAt(arguments.keys, *arguments.bits_per_key);
  }
  if (arguments.rate) CheckRate(*arguments.rate);
  const std::uint64_t bits = arguments.memory_bytes ? BitsInMemory(arguments) : BitsFor(arguments);
  CheckPolicyHas(arguments, bits);
  return bits;
}

// As exact_ribbon builds it: a Bloom filter for few keys.
PlannedFilter PlanRibbon(const PlanArguments& arguments) {
  const std::uint64_t keys = arguments.keys;
  FilterOptions options;
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
  if (plan->Kind() != FilterKind::kRibbon) {
    const std::uint64_t bits = plan->Description().bits;
    if (!arguments.bits_per_key) CheckPolicyHas(arguments, bits);
    return PlanBloom(BloomKind::kClassic, keys, bits);
  }
  const std::uint64_t array_bytes =
      plan->BlockBytes() - support::RibbonTrailerBytes(keys, /*hash_seed=*/0);
  return {keys, 8 * array_bytes, 0, plan->FalsePositiveRate()};
}

PlannedFilter PlanBuiltIn(const PlanArguments& arguments, std::uint64_t millibits) {
  const BuiltInBloom filter = BuiltInBloomOf(arguments.keys, millibits);
  return {arguments.keys, filter.Bits(), filter.probes, filter.rate, filter.BlockBytes()};
}

// The least thousandths of a bit per key that hold the wanted rate, or the most in the memory.
std::uint64_t BuiltInMillibits(const PlanArguments& arguments) {
  constexpr auto kMost = static_cast<std::uint64_t>(1000.0 * kMaxBitsPerKey);
  if (arguments.bits_per_key) {
    CheckBitsPerKey(*arguments.bits_per_key);
    const auto wanted = static_cast<std::uint64_t>(std::llround(1000.0 * *arguments.bits_per_key));
    if (2 * wanted < kFewestBuiltInMillibits) {
      RefusePlan(fmt::format("RocksDB makes no filters of {:g} bits per key, but of 0.5 and more",
                             *arguments.bits_per_key));
    }
    return std::max(wanted, kFewestBuiltInMillibits);
  }
  if (arguments.rate) CheckRate(*arguments.rate);
  // Whether the rate is reached, or the memory is exceeded.
  const auto is_enough = [&](std::uint64_t millibits) {
    const PlannedFilter plan = PlanBuiltIn(arguments, millibits);
    return arguments.rate ? plan.rate <= *arguments.rate
                          : plan.MemoryBytes() > *arguments.memory_bytes;
  };
  constexpr std::uint64_t kNone = kFewestBuiltInMillibits - 1;
  std::uint64_t low = kNone;
  std::uint64_t high = kMost + 1;
  // Behind it RocksDB takes a probe less, and the rate rises.
  constexpr std::uint64_t kMostProbesEnd = 25'501;
  if (arguments.rate) (is_enough(kMostProbesEnd) ? high : low) = kMostProbesEnd;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  const std::uint64_t found = arguments.rate ? high : low;
  if (found == kNone) RefusePlan("no filter is that small");
  CheckPolicyHas(arguments, found > kMost ? std::numeric_limits<std::uint64_t>::max() : 0);
  return found;
}

void PrintPlan(BloomKind kind, const PlannedFilter& plan, const std::string& policy) {
  support::TextTable table(kColumns);
  table.AddRow(CellsOf(plan));
  const std::string name = plan.IsRibbon()           ? "Ribbon"
                           : plan.built_in_bytes > 0 ? "RocksDB's Bloom"
                                                     : Describe(kind) + " Bloom";
  fmt::print("{} filter of {} bits\n\n{}", name, support::WithCommas(plan.bits), table.Format());
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

void ShowPlan(const PlanArguments& arguments, const PlannedFilter& plan,
              const std::string& policy) {
  if (!arguments.json) return PrintPlan(KindOf(arguments), plan, policy);
  nlohmann::json document = PlanJson(plan);
  document["policy"] = policy;
  PrintJson(document);
}

}  // namespace

void RunPlan(const PlanArguments& arguments) {
  CheckKeys(arguments.keys);
  if (arguments.kind == PolicyKind::kRocksDBBloom) {
    const std::uint64_t millibits = BuiltInMillibits(arguments);
    return ShowPlan(arguments, PlanBuiltIn(arguments, millibits),
                    fmt::format("bloomfilter:{:g}", static_cast<double>(millibits) / 1000.0));
  }
  PolicyOptions options = arguments.kind;
  const PlannedFilter plan =
      HasRibbon(options) ? PlanRibbon(arguments)
                         : PlanBloom(KindOf(arguments), arguments.keys, BitsAskedFor(arguments));
  if (plan.bits == 0) RefusePlan("no filter is that small");
  options.bits_per_key = ConfiguredBitsPerKey(plan);
  // The block may take fewer bits, or whole lines.
  if (arguments.bits_per_key) options.bits_per_key = *arguments.bits_per_key;
  ShowPlan(arguments, plan, FormatPolicy(options));
}

}  // namespace exactbloom::tool
