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
#include "readamp/keys/taken_settings.h"
#include "readamp/lookups/lookup_run.h"
#include "readamp/readamp_settings.h"

namespace exactbloom::readamp {

struct WorkloadResult {
  std::string name;
  std::string description;
  LookupKind kind = LookupKind::kGet;
  Measurement measurement;
  Prediction prediction;

  // False positives over the checks of filters whose table lacks the key; none without such checks.
  std::optional<double> MeasuredRate() const;
  // The 99.9% interval of the measured rate.
  Interval RateInterval() const;
  // Searches of tables that lack the key: RocksDB's false positives, and the tree's tables without
  // filter. None without filters if the tree changes during the reads.
  std::optional<std::uint64_t> WastedSearches() const;
};

struct PolicyResult {
  std::string policy;
  std::uint64_t filter_bytes = 0;
  std::uint64_t filter_keys = 0;
  std::size_t tables = 0;
  double load_cpu_us = 0.0;  // processor time per key
  int sorted_runs = 0;
  std::vector<support::LevelKeys> levels;
  std::vector<std::string> warnings;  // of settings that do not fit the tree
  std::optional<GrowthResult> growth;
  std::vector<WorkloadResult> workloads;  // the others

  double BitsPerKey() const;
};

// A line of Bloom's Table I, and the same hash area measured here.
struct BloomTableRow {
  int halvings = 0;  // the allowed error is 2^-halvings
  std::uint64_t printed_bits = 0;
  bool misprint = false;
  double printed_percent = 0.0;
  std::string policy;
  std::uint64_t filter_bytes = 0;
  double measured_percent = 0.0;   // of all lookups: those that avoided a disk read
  double predicted_percent = 0.0;  // by the exact rate
};

// Data blocks that were read without filters and not here.
struct AvoidedReads {
  std::int64_t blocks = 0;
  std::optional<double> percent;  // none if nothing is read without filters
};

struct Report {
  std::string command;
  std::string source;
  std::size_t keys = 0;
  std::size_t stored = 0;
  std::string rocksdb;
  std::string cpu;
  std::optional<TakenSettings> from_database;  // if the keys are from one
  std::optional<double> estimated_seconds;     // of the following, as told at the start
  double seconds = 0.0;                        // that it took
  std::vector<PolicyResult> policies;
  std::vector<BloomTableRow> bloom_table;

  bool DirectReads() const;  // in all runs of workloads, of which there is at least one

  // The result of the same workload under the policy `none`; null if that was not measured.
  const WorkloadResult* Baseline(const std::string& workload) const;
  // Against the baseline, in proportion if fewer lookups were made there; none without one.
  std::optional<AvoidedReads> Avoided(const WorkloadResult& result) const;

  // The keys, the tree and the reads, in two lines.
  std::string DataText(const ReadampSettings& settings) const;
  // What was measured; the summary, or the aligned tables where `settings` asks for details or
  // there is none; and the counts that agree.
  std::string Text(const ReadampSettings& settings) const;
  nlohmann::json Json(const ReadampSettings& settings) const;
};

}  // namespace exactbloom::readamp
