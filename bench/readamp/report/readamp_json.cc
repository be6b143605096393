// The results as JSON.
#include <nlohmann/json.hpp>

#include "exactbloom/version.h"
#include "readamp_report.h"
#include "support/optional_json.h"

namespace exactbloom::readamp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measurement, lookups, false_positives, data_blocks_read,
                                   bytes_read, block_cache_hits, file_reads, file_bytes_read,
                                   wasted_reads, cpu_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LevelKeys, level, keys)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BloomTableRow, allowed_error, printed_bits, misprint,
                                   printed_percent, policy, filter_bytes, measured_percent,
                                   predicted_percent)

namespace {

using nlohmann::json;

json SettingsJson(const ReadampSettings& settings) {
  json tree = {{"kind", kTreeNames[static_cast<std::size_t>(settings.tree)].first},
               {"filters", settings.partitioned_filters ? "partitioned" : "full"},
               {"value_bytes", settings.value_bytes},
               {"block_bytes", settings.block_bytes}};
  if (settings.tree == Tree::kSettled) {
    tree["sorted_runs"] = settings.sorted_runs;
    tree["size_ratio"] = settings.size_ratio;
  } else if (settings.tree == Tree::kLevel0) {
    tree["level0_files"] = settings.level0_files;
  } else {
    tree["write_buffer_bytes"] = settings.write_buffer_bytes;
    tree["level0_trigger"] = settings.level0_trigger;
  }
  return {{"tree", tree},
          {"block_cache_bytes", settings.block_cache_bytes},
          {"threads", settings.threads},
          {"stored_share", settings.stored_share},
          {"zipf_exponent", settings.zipf_exponent},
          {"seed", settings.seed}};
}

json WorkloadJson(const WorkloadResult& result) {
  const Measurement& measured = result.measured;
  const Interval& interval = result.interval;
  json document = measured;
  document.update({{"filter_checks", measured.true_negatives + measured.filters_passed},
                   {"absent_checks", measured.AbsentChecks()},
                   {"derived_absent_checks", result.predicted.absent_checks},
                   {"measured_rate", result.rate},
                   {"interval", result.rate ? json{interval.low, interval.high} : json(nullptr)},
                   {"exact_rate", result.predicted.rate},
                   {"wasted_searches", result.wasted_searches},
                   {"predicted_wasted_reads", result.predicted.WastedSearches()}});
  return document;
}

json PolicyJson(const PolicyResult& policy) {
  json workloads = json::object();
  for (const WorkloadResult& result : policy.workloads) {
    workloads[result.name] = WorkloadJson(result);
  }
  if (policy.growth) workloads["growth"] = GrowthJson(*policy.growth);
  return {{"policy", policy.policy},
          {"filter_bytes", policy.filter_bytes},
          {"bits_per_key", policy.bits_per_key},
          {"tables", policy.tables},
          {"sorted_runs", policy.sorted_runs},
          {"levels", policy.levels},
          {"load_cpu_us_per_key", policy.load_cpu_us},
          {"workloads", workloads}};
}

}  // namespace

json Report::Json(const ReadampSettings& settings) const {
  json root = {{"exactbloom", EXACTBLOOM_VERSION},
               {"command", command},
               {"keys", keys},
               {"keys_stored", stored},
               {"workload_source", source},
               {"rocksdb", rocksdb},
               {"cpu", cpu},
               {"from_db", nullptr},
               {"seconds", seconds},
               {"settings", SettingsJson(settings)},
               {"policies", json::array()},
               {"bloom_table_1", bloom_table}};
  if (from_database) {
    root["from_db"] = {{"taken", from_database->taken}, {"not_taken", from_database->not_taken}};
  }
  for (const PolicyResult& policy : policies) root["policies"].push_back(PolicyJson(policy));
  return root;
}

}  // namespace exactbloom::readamp
