#include "policy_measurement.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "readamp/lookups/growth.h"
#include "support/tree/size_ratio_fit.h"

namespace exactbloom::readamp {
namespace {

// How many of the workload's lookups are made under the policy, null for none. Without filters
// there are many reads, and only the choice of keys depends on chance, so the first lookups, whose
// keys are in random order, stand for all. This does not hold if lookups fill a cache for others,
// or if RocksDB compacts meanwhile.
std::size_t LookupsToMake(const Workload& workload, const rocksdb::FilterPolicy* policy,
                          const ReadampSettings& settings) {
  const std::size_t all = workload.order.size();
  const bool makes_all = policy != nullptr || settings.unfiltered_lookups == 0 ||
                         settings.block_cache_bytes > kDefaultBlockCacheBytes ||
                         workload.kind == LookupKind::kDuringWrites;
  return makes_all ? all : std::min<std::size_t>(all, settings.unfiltered_lookups);
}

}  // namespace

WorkloadResult MeasureWorkload(const Workload& workload, const Database& database,
                               const std::string& step, Progress& progress) {
  const ReadampSettings& settings = database.Settings();
  WorkloadResult result{workload.name, workload.description, workload.kind,
                        Run(workload, database, step, settings.read_latency, progress),
                        Predict(database, workload)};
  // RocksDB counts no true positives of prefixes; the tree does.
  if (workload.kind == LookupKind::kPrefixScan) {
    result.measurement.false_positives =
        result.measurement.filters_passed - result.prediction.present_checks;
  }
  CheckAgreement(result.measurement, result.prediction, workload.kind, settings.tree, step);
  return result;
}

PolicyResult MeasurePolicy(const std::string& policy, const KeySet& keys,
                           const std::vector<Workload>& workloads, const ReadampSettings& settings,
                           Progress& progress) {
  const auto filter_policy = MakePolicy(policy);
  std::optional<Workload> observed;
  std::optional<GrowthMeasurement> growth;
  for (const Workload& workload : workloads) {
    if (workload.kind != LookupKind::kGrowth) continue;
    observed = workload;
    observed->order.resize(LookupsToMake(workload, filter_policy.get(), settings));
    growth.emplace(*observed, keys, settings, progress);
  }
  progress.Begin(policy + "  loading", growth ? keys.stored : 0);
  const Database database(settings, keys, filter_policy, growth ? &*growth : nullptr);
  progress.End();
  PolicyResult result;
  result.policy = policy;
  result.filter_bytes = database.Tables().FilterBytes();
  result.filter_keys = database.Tables().FilterKeys();
  result.tables = database.Tables().size();
  result.sorted_runs = database.Tables().SortedRuns();
  result.load_cpu_us = database.LoadCpuPerKey();
  result.levels = database.Tables().KeysOfLevels();
  const std::string misfit = support::SizeRatioMisfit(filter_policy.get(), result.levels);
  if (!misfit.empty()) result.warnings.push_back(misfit);
  if (growth) result.growth = WithOptima(policy, filter_policy.get(), growth->Result());
  for (Workload workload : workloads) {
    if (workload.kind == LookupKind::kGrowth) continue;
    workload.order.resize(LookupsToMake(workload, filter_policy.get(), settings));
    result.workloads.push_back(
        MeasureWorkload(workload, database, policy + "  " + workload.name, progress));
  }
  return result;
}

}  // namespace exactbloom::readamp
