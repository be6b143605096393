// exactbloom plan: the size and k of a filter, or of the filters of an LSM tree's sorted runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "arguments.h"
#include "commands.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/levels.h"
#include "exactbloom/sizing.h"

namespace exactbloom::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostKeys = 1'000'000'000'000;
constexpr std::uint64_t kMostBits = std::uint64_t{1} << 53;

struct PlanArguments {
  LayoutArguments layout;
  std::optional<std::uint64_t> keys;
  std::optional<double> bits_per_key;
  std::optional<double> rate;
  std::optional<std::uint64_t> memory_bytes;
  std::vector<std::uint64_t> levels;
  bool json = false;
};

std::uint64_t KeysOf(const PlanArguments& a) {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : a.levels) {
    if (n < 1 || n > kMostKeys) {
      throw InvalidInput(fmt::format("--levels {}: each must be 1 to {} keys", n, kMostKeys));
    }
    sum += n;
  }
  if (a.levels.size() > 64) throw InvalidInput("--levels: at most 64 sorted runs");
  if (!a.keys && a.levels.empty()) throw InvalidInput("--keys is required");
  const std::uint64_t keys = a.keys.value_or(sum);
  if (keys < 1 || keys > kMostKeys) {
    throw InvalidInput(fmt::format("--keys {}: must be 1 to {}", keys, kMostKeys));
  }
  if (!a.levels.empty() && keys != sum) {
    throw InvalidInput(fmt::format("--keys {}: the levels have {} keys in all", keys, sum));
  }
  return keys;
}

// The bits that --bits-per-key or --memory allow, in whole bytes or lines.
std::uint64_t BitsAllowed(const PlanArguments& a, Layout layout, std::uint64_t keys) {
  const std::uint64_t unit = layout.lines == 0 ? 8 : kLineBits;
  const std::uint64_t fewest = unit * (layout.lines == 2 ? 2 : 1);
  if (a.memory_bytes) {
    if (*a.memory_bytes > kMostBits / 8 || *a.memory_bytes * 8 < fewest) {
      throw InvalidInput(fmt::format("--memory {}: must be {} to {} bytes", *a.memory_bytes,
                                     fewest / 8, kMostBits / 8));
    }
    return *a.memory_bytes * 8 / unit * unit;
  }
  if (!(*a.bits_per_key > 0.0 && *a.bits_per_key <= kMaxBitsPerKey)) {
    throw InvalidInput(fmt::format("--bits-per-key {}: must be above 0 and at most {}",
                                   *a.bits_per_key, kMaxBitsPerKey));
  }
  const double units =
      std::ceil(static_cast<double>(keys) * *a.bits_per_key / static_cast<double>(unit));
  return std::max(fewest, static_cast<std::uint64_t>(units) * unit);
}

FilterSize SizeOf(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  const int probes = OptimalProbes(layout, bits, keys);
  return {bits, probes, FalsePositiveRate(layout, bits, keys, probes)};
}

double PerKey(std::uint64_t bits, std::uint64_t keys) {
  return static_cast<double>(bits) / static_cast<double>(keys);
}

Json Describe(const FilterSize& size, std::uint64_t keys, const std::string& policy) {
  return {{"m", size.bits},
          {"k", size.probes},
          {"bits_per_key", PerKey(size.bits, keys)},
          {"exact", size.false_positive_rate},
          {"memory_bytes", (size.bits + 7) / 8},
          {"policy", policy}};
}

void PrintRow(const char* name, const FilterSize& size, std::uint64_t keys) {
  fmt::print("{:<18} {:>10} {:>4} {:>16} {:>16} {:>14.6g}\n", name,
             Shortest(PerKey(size.bits, keys), 6), size.probes, size.bits, (size.bits + 7) / 8,
             size.false_positive_rate);
}

void PrintHeader() {
  fmt::print("{:<18} {:>10} {:>4} {:>16} {:>16} {:>14}\n", "", "bits/key", "k", "bits", "bytes",
             "exact rate");
}

void PrintUsualFormula(Layout layout, const FilterSize& size, std::uint64_t keys) {
  const double ln2 = std::log(2.0);
  const int most = static_cast<int>(std::min<std::uint64_t>(size.bits, kMaxProbes));
  const int usual =
      std::clamp(static_cast<int>(std::lround(PerKey(size.bits, keys) * ln2)), 1, most);
  fmt::print("\nthe usual formula: k = {}, rate {:.6g}", usual,
             AsymptoticFalsePositiveRate(size.bits, keys, usual));
  const double truth = FalsePositiveRate(layout, size.bits, keys, usual);
  if (!std::isnan(truth)) fmt::print("; in truth {:.6g} with that k", truth);
  fmt::print("\n");
}

void PlanOne(const PlanArguments& a, Layout layout, std::uint64_t keys) {
  FilterSize size;
  std::string policy;
  if (a.rate) {
    const auto smallest = SmallestFilter(layout, keys, *a.rate);
    if (!smallest) {
      throw InvalidInput(fmt::format("--fpr {}: no filter of up to 2^53 bits reaches it", *a.rate));
    }
    size = *smallest;
    policy = PolicyString(a.layout, fmt::format("fpr={}", *a.rate));
  } else {
    size = SizeOf(layout, BitsAllowed(a, layout, keys), keys);
    const double per_key = a.bits_per_key.value_or(PerKey(size.bits, keys));
    policy = PolicyString(a.layout, "bits_per_key=" + BitsPerKeyText(per_key));
  }
  if (a.json) {
    fmt::print("{}\n", Describe(size, keys, policy).dump(2));
    return;
  }
  fmt::print("{} filter of {} keys, lines = {}\n\n", a.layout.kind, keys, a.layout.lines);
  PrintHeader();
  const std::uint64_t unit = BitGranularity(layout);
  const std::uint64_t bit_a_key = (keys + unit - 1) / unit * unit;
  if (size.bits > bit_a_key && OptimalProbes(layout, size.bits - bit_a_key, keys) > 0) {
    PrintRow("one bit less", SizeOf(layout, size.bits - bit_a_key, keys), keys);
  }
  PrintRow("plan", size, keys);
  PrintRow("one bit more", SizeOf(layout, size.bits + bit_a_key, keys), keys);
  PrintUsualFormula(layout, size, keys);
  fmt::print("policy: {}\n", policy);
}

LevelPlan PlanOf(const PlanArguments& a, Layout layout, std::uint64_t keys) {
  const auto plan = a.rate ? PlanLevelsForTarget(layout, a.levels, *a.rate)
                           : PlanLevels(layout, a.levels, BitsAllowed(a, layout, keys));
  if (!plan) throw InvalidInput("--levels: no plan within 2^53 bits");
  return *plan;
}

void PlanTree(const PlanArguments& a, Layout layout, std::uint64_t keys) {
  const LevelPlan plan = PlanOf(a, layout, keys);
  Json levels = Json::array();
  FilterSize total{0, 0, plan.wasted_reads};
  std::string level_bits;
  for (std::size_t i = 0; i < plan.filters.size(); ++i) {
    const FilterSize& size = plan.filters[i];
    const std::string per_key = BitsPerKeyText(PerKey(size.bits, a.levels[i]));
    levels.push_back(
        Describe(size, a.levels[i], PolicyString(a.layout, "bits_per_key=" + per_key)));
    total.bits += size.bits;
    level_bits += (i == 0 ? "" : ":") + per_key;
  }
  const std::string policy = PolicyString(a.layout, "level_bits=" + level_bits);
  if (a.json) {
    Json out = {{"m", total.bits},
                {"bits_per_key", PerKey(total.bits, keys)},
                {"memory_bytes", (total.bits + 7) / 8},
                {"expected_wasted_reads", plan.wasted_reads},
                {"policy", policy},
                {"levels", levels}};
    fmt::print("{}\n", out.dump(2));
    return;
  }
  fmt::print("{} filters of {} sorted runs, {} keys in all, lines = {}\n\n", a.layout.kind,
             a.levels.size(), keys, a.layout.lines);
  PrintHeader();
  for (std::size_t i = 0; i < plan.filters.size(); ++i) {
    PrintRow(fmt::format("{} keys", a.levels[i]).c_str(), plan.filters[i], a.levels[i]);
  }
  fmt::print("\nin all: {} bits per key, {} bytes\n", Shortest(PerKey(total.bits, keys), 6),
             (total.bits + 7) / 8);
  fmt::print("wasted reads of an absent-key lookup: {:.6g}\n", plan.wasted_reads);
  double uniform = 0.0;
  for (const std::uint64_t n : a.levels) {
    const auto units =
        static_cast<std::uint64_t>(PerKey(total.bits, keys) * static_cast<double>(n)) /
        BitGranularity(layout);
    const int probes = OptimalProbes(layout, units * BitGranularity(layout), n);
    uniform +=
        probes == 0 ? 1.0 : FalsePositiveRate(layout, units * BitGranularity(layout), n, probes);
  }
  fmt::print("the same bits per key everywhere:     {:.6g}\n", uniform);
  fmt::print("policy: {}\n", policy);
}

void Run(const PlanArguments& a) {
  const Layout layout = a.layout.Get();
  const int ways = static_cast<int>(a.bits_per_key.has_value()) +
                   static_cast<int>(a.rate.has_value()) +
                   static_cast<int>(a.memory_bytes.has_value());
  if (ways != 1) throw InvalidInput("give one of --bits-per-key, --fpr and --memory");
  const std::uint64_t keys = KeysOf(a);
  const double most = a.levels.empty() ? 1.0 : static_cast<double>(a.levels.size());
  if (a.rate && !(*a.rate > 0.0 && *a.rate < most)) {
    throw InvalidInput(fmt::format("--fpr {}: must be strictly between 0 and {}", *a.rate, most));
  }
  if (a.levels.empty()) {
    PlanOne(a, layout, keys);
  } else {
    PlanTree(a, layout, keys);
  }
}

}  // namespace

void AddPlanCommand(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("plan", "The size and k of a filter, or of a tree's filters");
  auto arguments = std::make_shared<PlanArguments>();
  arguments->layout.AddTo(*command);
  command->add_option("--keys", arguments->keys, "number of keys")->check(RefuseNegative);
  command->add_option("--bits-per-key", arguments->bits_per_key, "memory, in bits per key");
  command->add_option("--fpr", arguments->rate,
                      "the rate to reach; with --levels, the wasted reads of a lookup");
  command->add_option("--memory", arguments->memory_bytes, "memory, in bytes")
      ->check(RefuseNegative);
  command->add_option("--levels", arguments->levels, "keys of each sorted run, n1,n2,...")
      ->delimiter(',')
      ->check(RefuseNegative);
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments] { Run(*arguments); });
}

}  // namespace exactbloom::tool
