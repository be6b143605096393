#include "policy_measurement.h"

#include <algorithm>

namespace exactbloom::readamp {
namespace {

// How many of the workload's lookups are made under the policy. Without filters there are many
// reads, and only the choice of keys depends on chance, so the first lookups, whose keys are in
// random order, stand for all. This does not hold if lookups fill a cache for others, or if RocksDB
// compacts meanwhile.
std::size_t LookupsToMake(const Workload& workload, const Database& database) {
  const ReadampSettings& settings = database.Settings();
  const std::size_t all = workload.order.size();
  const bool makes_all = database.Policy() != nullptr || settings.unfiltered_lookups == 0 ||
                         settings.block_cache_bytes > kDefaultBlockCacheBytes ||
                         workload.kind == LookupKind::kDuringWrites;
  return makes_all ? all : std::min<std::size_t>(all, settings.unfiltered_lookups);
}

}  // namespace

WorkloadResult MeasureWorkload(const Workload& workload, const Database& database,
                               const std::string& step, Progress& progress) {
  const ReadampSettings& settings = database.Settings();
  WorkloadResult result{workload.name, workload.description,
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
  progress.Begin(policy + "  loading", 0);
  const Database database(settings, keys, MakePolicy(policy));
  progress.End();
  PolicyResult result;
  result.policy = policy;
  result.filter_bytes = database.Tables().FilterBytes();
  result.filter_keys = database.Tables().FilterKeys();
  result.tables = database.Tables().size();
  result.sorted_runs = database.Tables().SortedRuns();
  result.load_cpu_us = database.LoadCpuPerKey();
  for (Workload workload : workloads) {
    workload.order.resize(LookupsToMake(workload, database));
    result.workloads.push_back(
        MeasureWorkload(workload, database, policy + "  " + workload.name, progress));
  }
  return result;
}

}  // namespace exactbloom::readamp
