#include "policy_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "equal_memory.h"
#include "readamp/lookups/growth.h"

namespace exactbloom::readamp {
namespace {

// How many of the workload's lookups are made under the policy, null for none. Without filters
// there are many reads, and only the choice of keys depends on chance, so the first lookups, whose
// keys are in random order, stand for all. This does not hold if lookups fill a cache for others.
std::size_t LookupsToMake(const Workload& workload, const rocksdb::FilterPolicy* policy,
                          const ReadampSettings& settings) {
  const std::size_t all = workload.order.size();
  const bool makes_all = policy != nullptr || settings.unfiltered_lookups == 0 ||
                         settings.block_cache_bytes > kDefaultBlockCacheBytes;
  return makes_all ? all : std::min<std::size_t>(all, settings.unfiltered_lookups);
}

}  // namespace

std::string WithEqualBytes(const std::string& policy, std::uint64_t keys, double bits_per_key) {
  const std::size_t at = policy.find(kEqualBytes);
  if (at == std::string::npos) return policy;
  const auto with = [&](double setting) {
    std::string text = policy;
    return text.replace(at, sizeof(kEqualBytes) - 1, fmt::format("{:.6g}", setting));
  };
  return with(SettingOfEqualMemory([&](double setting) { return MakePolicy(with(setting)); }, keys,
                                   bits_per_key));
}

PolicyResult MeasurePolicy(const std::string& policy, const KeySet& keys,
                           const std::vector<Workload>& workloads, const ReadampSettings& settings,
                           Progress& progress) {
  const auto filter_policy = MakePolicy(policy);
  std::vector<Workload> made = workloads;
  std::optional<GrowthMeasurement> growth;
  for (Workload& workload : made) {
    workload.order.resize(LookupsToMake(workload, filter_policy.get(), settings));
    if (workload.IsGrowth()) {
      growth.emplace(workload, keys, filter_policy.get(), settings, progress);
    }
  }
  progress.Begin(policy + "  loading", growth ? keys.stored : 0);
  const Database database(settings, keys, filter_policy, growth ? &*growth : nullptr);
  progress.End();
  const TableList& tables = database.Tables();
  PolicyResult result;
  result.policy = policy;
  result.filter_bytes = tables.Sum(&Table::filter_bytes);
  result.filter_keys = tables.Sum(&Table::keys);
  if (result.filter_keys > 0) {
    result.bits_per_key =
        8.0 * static_cast<double>(result.filter_bytes) / static_cast<double>(result.filter_keys);
  }
  result.tables = tables.size();
  result.sorted_runs = tables.SortedRuns();
  result.levels = tables.KeysOfLevels();
  result.load_cpu_us = database.LoadCpuPerKey();
  if (growth) result.growth = MakeGrowthResult(policy, growth->Points());
  for (const Workload& workload : made) {
    if (workload.IsGrowth()) continue;
    const std::string step = policy + "  " + workload.name;
    const Measurement measured = Run(workload, database, step, progress);
    const Prediction predicted = Predict(database, workload);
    CheckAgreement(measured, predicted, settings.tree, step);
    result.workloads.push_back(MakeWorkloadResult(workload, measured, predicted));
  }
  return result;
}

}  // namespace exactbloom::readamp
