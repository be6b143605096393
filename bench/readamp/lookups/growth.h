// Lookups of absent keys at points along the load of a database.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "readamp/tree/database.h"
#include "support/progress.h"
#include "workload.h"

namespace exactbloom::readamp {

// A sorted run of the tree at a point: a file of level 0, or a deeper level.
struct GrowthRun {
  int level = 0;
  std::uint64_t tables = 0;
  std::uint64_t unfiltered_tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  double asked = 0.0;  // the share of the point's lookups whose keys lie within one of the tables
};

struct GrowthPoint {
  double seconds = 0.0;  // since the load began
  std::uint64_t keys_written = 0;
  std::uint64_t lookups = 0;
  std::uint64_t false_positives = 0;  // as RocksDB counts them, but for keys behind a table's last
  std::uint64_t wasted_reads = 0;     // tables that a lookup read, as the file system counts them
  std::vector<GrowthRun> runs;        // in the order in which a lookup asks them
  std::uint64_t most_filter_bytes = 0;  // of the tree after any flush or compaction so far

  // Of all sorted runs.
  std::uint64_t Sum(std::uint64_t GrowthRun::*field) const;
  double BitsPerKey() const;
  double RunsAsked() const;  // per lookup
  double WastedReadsPerLookup() const;
};

struct Growth {
  std::vector<GrowthPoint> loading;
  GrowthPoint at_rest;  // when all compactions have ended
};

class FilterCensus;

// Makes a workload's lookups while a database is loaded: an equal part of them at each of the
// settings' points, between two writes, and at rest. Compactions go on meanwhile, so the tree of a
// point is the one in the middle of its lookups. Single-threaded.
class GrowthMeasurement : public LoadObserver {
 public:
  //   workload   absent keys, at least one for each point and one more
  GrowthMeasurement(const Workload& workload, const KeySet& keys, const ReadampSettings& settings,
                    Progress& progress);
  ~GrowthMeasurement();

  void Prepare(rocksdb::Options* options) override;
  void AfterPut(rocksdb::DB& db, std::size_t written) override;
  void AtRest(rocksdb::DB& db) override;

  const Growth& Result() const { return growth_; }

 private:
  GrowthPoint Measure(rocksdb::DB& db);

  const Workload& workload_;
  const KeySet& keys_;
  const ReadampSettings& settings_;
  Progress& progress_;
  std::unique_ptr<rocksdb::Env> env_;  // with the counting file system
  std::shared_ptr<FilterCensus> census_;
  std::chrono::steady_clock::time_point start_;
  std::size_t written_ = 0;
  std::size_t next_ = 0;  // in the workload's order
  Growth growth_;
};

}  // namespace exactbloom::readamp
