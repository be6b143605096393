// exactbloom plan: the filter for a number of keys.
#include "plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

constexpr double kMostKeys = 1e12;

std::string PolicyOf(Layout layout, const FilterPlan& plan) {
  return plan.bits == 0 ? "none" : PolicyString(layout, ConfiguredBitsPerKey(plan));
}

std::uint64_t BitsAskedFor(const PlanArguments& arguments) {
  if (arguments.bits_per_key) {
    CheckBitsPerKey(*arguments.bits_per_key);
    return BitsAt(arguments.layout, *arguments.keys, *arguments.bits_per_key);
  }
  if (arguments.memory_bytes) {
    const std::uint64_t bits = BitsInMemory(arguments, 1);
    return bits - bits % arguments.layout.Granularity();
  }
  const auto size = SmallestFilter(arguments.layout, *arguments.keys, *arguments.rate);
  if (!size)
    Refuse(fmt::format("--fpr {:g} must lie between 0 and 1, both excluded", *arguments.rate));
  return size->bits;
}

// The usual formula's plan for the same arguments.
FilterPlan UsualPlan(const PlanArguments& arguments, const FilterPlan& plan) {
  FilterPlan usual = plan;
  if (arguments.rate) {
    const double bits = -std::log(*arguments.rate) / (kLn2 * kLn2) * static_cast<double>(plan.keys);
    usual.bits = static_cast<std::uint64_t>(std::ceil(bits));
  }
  usual.probes =
      std::clamp(static_cast<int>(std::lround(kLn2 * usual.BitsPerKey())), 1, kMaxProbes);
  usual.rate = AsymptoticFalsePositiveRate(usual.bits, usual.keys, usual.probes);
  return usual;
}

void PrintText(const PlanArguments& arguments, const FilterPlan& plan) {
  const Layout layout = arguments.layout;
  support::TextTable table({"", "bits", "bits/key", "k", "false-positive rate", "bytes"});
  const auto add = [&](const std::string& name, const FilterPlan& row) {
    table.AddRow({name, fmt::format("{}", row.bits), fmt::format("{:.4f}", row.BitsPerKey()),
                  fmt::format("{}", row.probes), FormatRate(row.rate),
                  fmt::format("{}", row.MemoryBytes())});
  };
  const double bits_per_key = plan.BitsPerKey();
  if (bits_per_key > 1.0) {
    add("one bit per key less",
        PlanOf(layout, plan.keys, BitsAt(layout, plan.keys, bits_per_key - 1.0)));
  }
  add("this plan", plan);
  add("one bit per key more",
      PlanOf(layout, plan.keys, BitsAt(layout, plan.keys, bits_per_key + 1.0)));
  const FilterPlan usual = UsualPlan(arguments, plan);
  add("usual formula", usual);
  fmt::print("{} Bloom filter for {} keys\n\n{}", Describe(layout), plan.keys, table.Format());
  if (!layout.InLines()) {
    fmt::print("{:<20}  its exact rate is {}\n", "",
               FormatRate(FalsePositiveRate(layout, usual.bits, usual.keys, usual.probes)));
  }
  fmt::print("\nfilter_policy={}\n", PolicyOf(layout, plan));
  if (plan.MemoryBytes() >= kBlockBytesLimit) {
    fmt::print(
        "One block cannot be that large (limit {} bytes): spread the keys over more tables.\n",
        kBlockBytesLimit);
  }
}

void RunOneFilter(const PlanArguments& arguments) {
  CheckKeys(*arguments.keys);
  const FilterPlan plan = PlanOf(arguments.layout, *arguments.keys, BitsAskedFor(arguments));
  if (plan.bits == 0) Refuse("no filter is that small");
  if (arguments.json) {
    nlohmann::json document = JsonOf(plan);
    document["policy"] = PolicyOf(arguments.layout, plan);
    return PrintJson(document);
  }
  PrintText(arguments, plan);
}

}  // namespace

std::uint64_t FilterPlan::MemoryBytes() const {
  if (bits == 0) return 0;
  return filter::ArrayBytes(bits) + (probes == 0 ? kRibbonMetadataBytes : filter::kTrailerBytes);
}

void Refuse(const std::string& what) { throw support::InputError(what); }

void CheckBitsPerKey(double bits_per_key) {
  if (!(bits_per_key >= kMinBitsPerKey && bits_per_key <= kMaxBitsPerKey)) {
    Refuse(fmt::format("{:g} bits per key are outside the range of {:g} to {:g}", bits_per_key,
                       kMinBitsPerKey, kMaxBitsPerKey));
  }
}

void CheckKeys(std::uint64_t keys) {
  if (keys < 1 || static_cast<double>(keys) > kMostKeys) {
    Refuse(fmt::format("{} keys are outside the range of 1 to {:g}", keys, kMostKeys));
  }
}

FilterPlan PlanOf(Layout layout, std::uint64_t keys, std::uint64_t bits) {
  const int probes = bits == 0 ? 0 : OptimalProbes(layout, bits, keys);
  if (probes == 0) return {keys, 0, 0, 1.0};
  return {keys, bits, probes, FalsePositiveRate(layout, bits, keys, probes)};
}

std::uint64_t BitsAt(Layout layout, std::uint64_t keys, double bits_per_key) {
  const double grain = static_cast<double>(std::max<std::uint64_t>(8, layout.Granularity()));
  const double grains = std::ceil(static_cast<double>(keys) * bits_per_key / grain);
  const double least = static_cast<double>(layout.ProbeStep());
  return static_cast<std::uint64_t>(std::max(grains, least) * grain);
}

std::uint64_t BitsInMemory(const PlanArguments& arguments, std::size_t filters) {
  const std::uint64_t trailers = filters * filter::kTrailerBytes;
  if (*arguments.memory_bytes <= trailers) {
    Refuse(fmt::format("--memory {} is no more than the trailers of {} filter{} take, {} bytes",
                       *arguments.memory_bytes, filters, filters == 1 ? "" : "s", trailers));
  }
  return (*arguments.memory_bytes - trailers) * 8;
}

double ConfiguredBitsPerKey(const FilterPlan& plan) {
  constexpr double kSteps = 1000.0;
  return std::min(kMaxBitsPerKey, std::ceil(plan.BitsPerKey() * kSteps - 1e-9) / kSteps);
}

nlohmann::json JsonOf(const FilterPlan& plan) {
  return {{"keys", plan.keys},          {"m", plan.bits},
          {"k", plan.probes},           {"bits_per_key", plan.BitsPerKey()},
          {"exact", Number(plan.rate)}, {"memory_bytes", plan.MemoryBytes()}};
}

void RunPlan(const PlanArguments& arguments) {
  if (!arguments.levels.empty()) return RunLevels(arguments);
  if (!arguments.keys) Refuse("plan: --keys or --levels is required");
  RunOneFilter(arguments);
}

}  // namespace exactbloom::tool
