// The results as JSON.
#include <nlohmann/json.hpp>

#include "exactbloom/version.h"
#include "readamp_report.h"
#include "support/optional_json.h"

namespace exactbloom::readamp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeSample, seconds, lookups, wasted_reads, tables, level0_files)

namespace {

using nlohmann::json;

json SettingsJson(const ReadampSettings& settings) {
  json tree = {{"kind", kTreeNames[static_cast<std::size_t>(settings.tree)].first},
               {"filters", settings.partitioned_filters ? "partitioned" : "full"},
               {"prefix_bytes", settings.prefix_bytes},
               {"value_bytes", settings.value_bytes}};
  if (settings.tree == Tree::kSettled) {
    tree["sorted_runs"] = settings.sorted_runs;
    tree["size_ratio"] = settings.size_ratio;
  } else if (settings.tree == Tree::kLevel0) {
    tree["level0_files"] = settings.level0_files;
  } else {
    tree["write_buffer_bytes"] = settings.write_buffer_bytes;
    tree["level0_trigger"] = settings.level0_trigger;
  }
  tree["block_bytes"] = settings.block_bytes;
  const bool all = settings.block_cache_bytes == kWholeDatabase;
  return {{"tree", tree},
          {"block_cache_bytes", all ? json("all") : json(settings.block_cache_bytes)},
          {"read_latency_us", static_cast<double>(settings.read_latency.count()) / 1000.0},
          {"threads", settings.threads},
          {"stored_share", settings.stored_share},
          {"absent_share", settings.absent_share},
          {"zipf_exponent", settings.zipf_exponent},
          {"batch", settings.batch},
          {"seed", settings.seed}};
}

// Counts that do not exist are null.
json LevelsJson(const Measurement& measured, LookupKind kind) {
  if (measured.by_level.empty()) return nullptr;
  const bool scans = kind == LookupKind::kPrefixScan;
  json levels = json::array();
  for (const auto& [level, waste] : measured.by_level) {
    levels.push_back(
        {{"level", level},
         {"false_positives", scans ? json(nullptr) : json(waste.false_positives)},
         {"wasted_reads", measured.wasted_reads ? json(waste.wasted_reads) : json(nullptr)}});
  }
  return levels;
}

json WorkloadJson(const WorkloadResult& result, const std::optional<AvoidedReads>& avoided) {
  const Measurement& measured = result.measurement;
  const Interval interval = result.RateInterval();
  const auto rate = result.MeasuredRate();
  return {{"lookups", measured.lookups},
          {"filter_checks", measured.true_negatives + measured.filters_passed},
          {"absent_checks", measured.AbsentChecks()},
          {"derived_absent_checks", result.prediction.absent_checks},
          {"false_positives", measured.false_positives},
          {"measured_rate", rate},
          {"interval", rate ? json{interval.low, interval.high} : json(nullptr)},
          {"exact_rate", result.prediction.rate},
          {"data_blocks_read", measured.data_blocks_read},
          {"bytes_read", measured.bytes_read},
          {"block_cache_hits", measured.block_cache_hits},
          {"file_reads", measured.file_reads},
          {"file_bytes_read", measured.file_bytes_read},
          {"wasted_searches", result.WastedSearches()},
          {"wasted_reads", measured.wasted_reads},
          {"by_level", LevelsJson(measured, result.kind)},
          {"predicted_wasted_reads", result.prediction.WastedReads()},
          {"kernel_bytes_read", measured.kernel_bytes_read},
          {"reads_avoided", avoided ? json(avoided->blocks) : json(nullptr)},
          {"reads_avoided_percent", avoided ? json(avoided->percent) : json(nullptr)},
          {"cpu_us", measured.cpu_us},
          {"p50_us", measured.p50_us},
          {"p99_us", measured.p99_us},
          {"p50_file_reads", measured.p50_file_reads},
          {"p99_file_reads", measured.p99_file_reads},
          {"over_time", measured.over_time.empty() ? json(nullptr) : json(measured.over_time)}};
}

json TakenJson(const std::optional<TakenSettings>& settings) {
  if (!settings) return nullptr;
  return {{"taken", settings->taken}, {"not_taken", settings->not_taken}};
}

json LevelKeysJson(const std::vector<support::LevelKeys>& levels) {
  json result = json::array();
  for (const auto& [level, keys] : levels) result.push_back({{"level", level}, {"keys", keys}});
  return result;
}

json BloomTableJson(const BloomTableRow& row) {
  return {{"allowed_error", 1.0 / (1 << row.halvings)},
          {"printed_bits", row.printed_bits},
          {"misprint", row.misprint},
          {"printed_percent", row.printed_percent},
          {"policy", row.policy},
          {"filter_bytes", row.filter_bytes},
          {"measured_percent", row.measured_percent},
          {"predicted_percent", row.predicted_percent}};
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
               {"from_db", TakenJson(from_database)},
               {"estimated_seconds", estimated_seconds},
               {"seconds", seconds},
               {"direct_reads", DirectReads()},
               {"settings", SettingsJson(settings)},
               {"policies", json::array()},
               {"bloom_table_1", json::array()}};
  for (const PolicyResult& policy : policies) {
    json workloads = json::object();
    for (const WorkloadResult& result : policy.workloads) {
      workloads[result.name] = WorkloadJson(result, Avoided(result));
    }
    if (policy.growth) workloads["growth"] = GrowthJson(*policy.growth);
    root["policies"].push_back({{"policy", policy.policy},
                                {"filter_bytes", policy.filter_bytes},
                                {"bits_per_key", policy.BitsPerKey()},
                                {"tables", policy.tables},
                                {"sorted_runs", policy.sorted_runs},
                                {"levels", LevelKeysJson(policy.levels)},
                                {"load_cpu_us_per_key", policy.load_cpu_us},
                                {"warnings", policy.warnings},
                                {"workloads", workloads}});
  }
  for (const BloomTableRow& row : bloom_table) root["bloom_table_1"].push_back(BloomTableJson(row));
  return root;
}

}  // namespace exactbloom::readamp
