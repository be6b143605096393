// The results of a run, as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"
#include "growth_report.h"
#include "rate_prediction.h"
#include "readamp/bloom_table.h"
#include "readamp/keys/user_database.h"
#include "readamp/lookups/lookup_run.h"
#include "readamp/readamp_settings.h"

namespace exactbloom::readamp {

// A workload under one policy: a row of the report.
struct WorkloadResult {
  std::string name;
  std::string description;
  Measurement measured;
  Prediction predicted;
  // False positives over the checks of filters whose table lacks the key, with its 99.9% interval;
  // none without such checks.
  std::optional<double> rate = std::nullopt;
  Interval interval = {};
  // Searches of tables that lack the key: false positives, and the tree's tables without filter.
  std::uint64_t wasted_searches = 0;
  double wasted_reads_per_lookup = 0.0;
};

WorkloadResult MakeWorkloadResult(const Workload& workload, const Measurement& measured,
                                  const Prediction& predicted);

struct PolicyResult {
  std::string policy;
  std::uint64_t filter_bytes = 0;
  std::uint64_t filter_keys = 0;
  double bits_per_key = 0.0;
  std::size_t tables = 0;
  int sorted_runs = 0;
  std::vector<LevelKeys> levels;
  double load_cpu_us = 0.0;  // processor time per key
  std::optional<GrowthResult> growth;
  std::vector<WorkloadResult> workloads;  // the others
};

// The policy that wastes the fewest reads in a workload, compared with the first one and with the
// next best, and below a table of all policies that have filters, with bars. A difference is
// claimed only where the intervals of the two rates do not overlap. Empty if no policy has filters.
//   workload   its number among the workloads of each policy
std::string SummaryText(const std::vector<PolicyResult>& policies, std::size_t workload);

struct Report {
  std::string command;
  std::string source;
  std::size_t keys = 0;
  std::size_t stored = 0;
  std::string rocksdb;
  std::string cpu;
  std::optional<TakenSettings> from_database;  // if the keys are from one
  double seconds = 0.0;
  std::vector<PolicyResult> policies;
  std::vector<BloomTableRow> bloom_table;

  // What was measured, and which policy wastes how many reads in the first workload. With the
  // settings' details, or without a policy that has filters, also the tables of all workloads.
  std::string Text(const ReadampSettings& settings) const;
  nlohmann::json Json(const ReadampSettings& settings) const;
};

}  // namespace exactbloom::readamp
