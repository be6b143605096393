#include "sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exactbloom/layout.h"
#include "filter/kernels/key_hash.h"
#include "readamp/equal_bytes.h"

namespace exactbloom::sweep {
namespace {

using support::InputError;

constexpr std::size_t kTableBytes = std::size_t{1} << 30;  // one table per sorted run

// The bytes of a partition of a filter; 0 where each table has one filter.
std::size_t PartitionBytes(const std::string& tree) {
  if (tree == "large") return 0;
  if (tree == "partitioned") return 4096;
  if (tree == "small_partitions") return 512;
  throw InputError(fmt::format(
      "there is no tree '{}'; the trees are large, partitioned and small_partitions", tree));
}

void Replace(std::string& text, const std::string& placeholder, const std::string& value) {
  for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder)) {
    text.replace(at, placeholder.size(), value);
  }
}

std::string KeysText(const readamp::ReadampSettings& readamp) {
  if (readamp.synthetic_keys > 0) return fmt::format("synthetic, {}", readamp.synthetic_keys);
  if (readamp.user_database.empty()) return readamp.key_file;
  return fmt::format("{}, at most {}", readamp.user_database, readamp.sampled_keys);
}

std::string NumberText(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

nlohmann::json PlannedPoint::Identity() const {
  return {{"kind", "point"}, {"tree", tree}, {"family", family}, {"bits", bits}};
}

std::vector<PlannedPoint> PlanPoints(const SweepSettings& settings) {
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
    PartitionBytes(tree);  // throws for an unknown one
    for (int i = 0; i <= steps; ++i) {
      for (const std::string& family : settings.policies) {
        points.push_back({tree, family, settings.least_bits + i * settings.step});
      }
    }
  }
  return points;
}

std::string ExpandPolicy(const PlannedPoint& point, std::uint64_t keys) {
  std::string policy = point.family;
  Replace(policy, "{bits}", NumberText(point.bits));
  const std::size_t partition_bits = 8 * PartitionBytes(point.tree);
  if (partition_bits > 0) {
    keys = std::min(keys,
                    static_cast<std::uint64_t>(static_cast<double>(partition_bits) / point.bits));
  }
  return readamp::WithEqualBytes(policy, keys, point.bits);
}

readamp::ReadampSettings TreeSettings(const SweepSettings& settings, const std::string& tree) {
  readamp::ReadampSettings result = settings.readamp;
  result.workloads = {"absent"};
  result.table_bytes = kTableBytes;
  result.partitioned_filters = PartitionBytes(tree) > 0;
  if (result.partitioned_filters) result.partition_bytes = PartitionBytes(tree);
  return result;
}

nlohmann::json SharedSettings(const SweepSettings& settings) {
  const readamp::ReadampSettings& readamp = settings.readamp;
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

}  // namespace exactbloom::sweep
