#include "policy_measurement.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "readamp/report/agreement.h"
#include "readamp/report/rate_prediction.h"
#include "readamp/tree/database.h"

namespace exactbloom::readamp {
namespace {

// How many of the workload's lookups are made under the policy. Without filters there are many
// reads, and only the choice of keys depends on chance, so the first lookups, whose keys are in
// random order, stand for all. This does not hold if lookups fill a cache for others, or if RocksDB
// compacts meanwhile.
std::size_t LookupsToMake(const Workload& workload, const rocksdb::FilterPolicy* policy,
                          const Settings& settings) {
  const std::size_t all = workload.order.size();
  const bool makes_all = policy != nullptr || settings.unfiltered_lookups == 0 ||
                         settings.block_cache_bytes > kDefaultBlockCacheBytes ||
                         workload.kind == LookupKind::kDuringWrites;
  return makes_all ? all : std::min<std::size_t>(all, settings.unfiltered_lookups);
}

WorkloadResult MeasureWorkload(const Workload& workload, const std::string& policy_name,
                               const rocksdb::FilterPolicy* policy, const Database& database,
                               const KeySet& keys, const Settings& settings, Progress& progress) {
  Workload named = workload;
  named.name = policy_name + "  " + workload.name;
  named.order.resize(LookupsToMake(workload, policy, settings));
  WorkloadResult result{workload.name, workload.description, workload.kind,
                        Run(named, keys, database, settings, progress),
                        Predict(database.Tables(), keys, named, settings, policy)};
  // RocksDB counts no true positives of prefixes; the tree does.
  if (workload.kind == LookupKind::kPrefixScan) {
    result.measurement.false_positives =
        result.measurement.filters_passed - result.prediction.present_checks;
  }
  CheckAgreement(result, settings, named.name);
  return result;
}

}  // namespace

PolicyResult MeasurePolicy(const std::string& policy_name, const KeySet& keys,
                           const std::vector<Workload>& workloads, const Settings& settings,
                           Progress& progress) {
  const auto policy = MakePolicy(policy_name);
  progress.Begin(policy_name + "  loading", 0);
  const Database database(settings, keys, policy);
  progress.End();
  PolicyResult result;
  result.policy = policy_name;
  result.tables = database.Tables().size();
  result.sorted_runs = database.Tables().SortedRuns();
  result.load_cpu_us = database.LoadCpuPerKey();
  for (const Table& table : database.Tables()) {
    result.filter_bytes += table.filter_bytes;
    result.filter_keys += table.keys;
  }
  for (const Workload& workload : workloads) {
    result.workloads.push_back(
        MeasureWorkload(workload, policy_name, policy.get(), database, keys, settings, progress));
    result.direct_reads &= result.workloads.back().measurement.direct_reads;
  }
  return result;
}

}  // namespace exactbloom::readamp
