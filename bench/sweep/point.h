// What a sweep found at its points, as the results file keeps it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "exactbloom/layout.h"
#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom::sweep {

// Lookups with every read of a table file held up.
struct DelayedRun {
  double read_latency_us = 0.0;
  std::uint64_t lookups = 0;
  std::uint64_t reads = 0;
  double mean_us = 0.0;  // of a lookup, by the clock
};

// Lookups of absent keys in a database under one policy.
struct Point {
  std::string tree;
  std::string family;
  std::string policy;
  double bits = 0.0;  // per key, as planned
  std::uint64_t filter_bytes = 0;
  std::uint64_t filter_keys = 0;
  std::uint64_t tables = 0;

  std::uint64_t lookups = 0;
  std::uint64_t absent_checks = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t blocks_read = 0;
  double dispersion = 1.0;           // as in readamp's Prediction
  std::optional<double> exact_rate;  // of a check
  double cpu_us = 0.0;               // of a lookup, its reads' included
  double load_cpu_us = 0.0;          // of a key, all that flush and compaction do
  double build_ns = 0.0;             // of a key, its filter alone
  std::vector<DelayedRun> delayed;

  double BitsPerKey() const;   // as RocksDB counts the blocks
  double WastedReads() const;  // tables read in vain, a lookup
  Interval WastedReadsInterval() const;
  std::optional<double> ExactWastedReads() const;
  // The model: processor time and, for each block read, the latency.
  double TimeUs(double read_latency_us) const;
};

// False positives of many filters of one size, built without RocksDB.
struct SizedFilters {
  int probes = 0;
  double exact_rate = 1.0;
  std::uint64_t queries = 0;
  std::uint64_t false_positives = 0;
  double dispersion = 1.0;

  double MeasuredRate() const;
  Interval RateInterval() const;
};

// The usual k = round(ln 2 m/n) beside the exact optimum, in filters of `keys` keys.
struct SizingPoint {
  Layout layout;
  std::uint64_t keys = 0;
  std::uint64_t bits = 0;  // m
  SizedFilters usual;
  SizedFilters exact;

  double BitsPerKey() const { return static_cast<double>(bits) / static_cast<double>(keys); }
};

nlohmann::json ToJson(const Point& point);
nlohmann::json ToJson(const SizingPoint& point);

// Throw nlohmann::json::exception where a field is missing or of another type.
Point PointFromJson(const nlohmann::json& json);
SizingPoint SizingPointFromJson(const nlohmann::json& json);

}  // namespace exactbloom::sweep
