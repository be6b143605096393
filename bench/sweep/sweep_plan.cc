#include "sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "equal_bytes.h"
#include "exactbloom/layout.h"
#include "filter/kernels/key_hash.h"
#include "readamp/tree/database.h"

namespace exactbloom::sweep {
namespace {

struct Tree {
  const char* name;
  const char* description;
  std::size_t table_bytes;
  std::size_t partition_bytes;  // 0: a filter a table
};

constexpr std::array<Tree, 3> kTrees = {{
    {"large", "large tables, a filter each", std::size_t{1} << 30, 0},
    {"partitioned", "filters in partitions of 4 KiB", std::size_t{1} << 30, 4096},
    {"small_partitions", "filters in partitions of 512 bytes", std::size_t{1} << 30, 512},
}};

const Tree& FindTree(const std::string& name) {
  const auto* const found = std::find_if(kTrees.begin(), kTrees.end(),
                                         [&](const Tree& tree) { return tree.name == name; });
  if (found != kTrees.end()) return *found;
  std::string known;
  for (const Tree& tree : kTrees) known += fmt::format(" {}", tree.name);
  throw InputError(fmt::format("there is no tree '{}'; the trees are{}", name, known));
}

void Replace(std::string& text, const std::string& placeholder, const std::string& value) {
  for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder)) {
    text.replace(at, placeholder.size(), value);
  }
}

void Erase(std::string& text, const std::string& words) { Replace(text, words, ""); }

std::string KeysText(const readamp::Settings& readamp) {
  if (readamp.synthetic_keys > 0) return fmt::format("synthetic, {}", readamp.synthetic_keys);
  if (readamp.user_database.empty()) return readamp.key_file;
  return fmt::format("{}, at most {}", readamp.user_database, readamp.sampled_keys);
}

std::string Number(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

std::vector<PlannedPoint> Plan(const SweepSettings& settings) {
  if (settings.step <= 0.0 || settings.least_bits < kMinBitsPerKey ||
      settings.most_bits > kMaxBitsPerKey || settings.least_bits > settings.most_bits) {
    throw InputError(fmt::format(
        "bits per key from {} to {} in steps of {}: take a range within {} "
        "to {} and a positive step",
        settings.least_bits, settings.most_bits, settings.step, kMinBitsPerKey, kMaxBitsPerKey));
  }
  constexpr double kRounding = 1e-9;
  const auto steps = static_cast<int>(
      std::floor((settings.most_bits - settings.least_bits) / settings.step + kRounding));
  std::vector<PlannedPoint> points;
  for (const std::string& tree : settings.trees) {
    FindTree(tree);
    for (int i = 0; i <= steps; ++i) {
      for (const std::string& family : settings.policies) {
        points.push_back({tree, family, settings.least_bits + i * settings.step});
      }
    }
  }
  return points;
}

std::string ExpandPolicy(const PlannedPoint& point, int size_ratio, std::uint64_t keys) {
  std::string policy = point.family;
  Replace(policy, "{bits}", Number(point.bits));
  Replace(policy, "{size_ratio}", fmt::format("{}", size_ratio));
  const std::string equal_bytes = "{equal_bytes}";
  if (policy.find(equal_bytes) == std::string::npos) return policy;
  const std::size_t partition_bits = 8 * FindTree(point.tree).partition_bytes;
  if (partition_bits > 0) {
    keys = std::min(keys,
                    static_cast<std::uint64_t>(static_cast<double>(partition_bits) / point.bits));
  }
  const double setting = SettingOfSize(
      [&](double bits) {
        std::string candidate = policy;
        Replace(candidate, equal_bytes, Number(bits));
        return readamp::MakePolicy(candidate);
      },
      keys, point.bits);
  Replace(policy, equal_bytes, Number(setting));
  return policy;
}

readamp::Settings TreeSettings(const SweepSettings& settings, const std::string& tree) {
  readamp::Settings result = settings.readamp;
  result.workloads = {"absent"};
  result.table_bytes = FindTree(tree).table_bytes;
  result.partitioned_filters = FindTree(tree).partition_bytes > 0;
  if (result.partitioned_filters) result.partition_bytes = FindTree(tree).partition_bytes;
  return result;
}

std::string DescribeTree(const std::string& tree) { return FindTree(tree).description; }

nlohmann::json SharedSettings(const SweepSettings& settings) {
  const readamp::Settings& readamp = settings.readamp;
  return {{"keys", KeysText(readamp)},
          {"stored_share", readamp.stored_share},
          {"lookups", readamp.lookups},
          {"sorted_runs", readamp.sorted_runs},
          {"size_ratio", readamp.size_ratio},
          {"value_bytes", readamp.value_bytes},
          {"block_cache_bytes", readamp.block_cache_bytes},
          {"direct_reads", readamp.direct_reads},
          {"threads", readamp.threads},
          {"repetitions", settings.repetitions},
          {"seed", readamp.seed}};
}

std::string Fingerprint(const nlohmann::json& shared_settings) {
  return fmt::format("{:016x}", filter::HashKey(shared_settings.dump(), 0));
}

std::string Label(const std::string& family) {
  std::string label = family;
  for (const char* words :
       {"id=", "bits_per_key={bits}", "={size_ratio}", ":{bits}", ":{equal_bytes}", "{", "}"}) {
    Erase(label, words);
  }
  std::replace(label.begin(), label.end(), ';', ' ');
  for (auto at = label.find("  "); at != std::string::npos; at = label.find("  ")) {
    label.erase(at, 1);
  }
  while (!label.empty() && label.back() == ' ') label.pop_back();
  return label;
}

}  // namespace exactbloom::sweep
