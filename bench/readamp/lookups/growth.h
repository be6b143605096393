// Lookups of absent keys at points along the load of a database.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "readamp/tree/database.h"
#include "support/progress.h"
#include "workload.h"

namespace exactbloom::readamp {

// A sorted run of a growing tree: a file of level 0, or a deeper level.
struct GrowthRun {
  int level = 0;
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  double asked = 0.0;  // the share of the lookups whose keys lie within one of the tables
};

// The names are those of the JSON.
struct GrowthPoint {
  double seconds = 0.0;  // since the load began
  std::uint64_t keys_written = 0;
  std::uint64_t lookups = 0;
  std::uint64_t false_positives = 0;  // as RocksDB counts them, but for keys behind a table's last
  std::uint64_t wasted_reads = 0;     // tables that a lookup read, as the file system counts them
  double wasted_reads_per_lookup = 0.0;
  // model::LeastWastedReads of the filters that the policy would give the runs now; for a policy
  // that is not ExactBloom's they are classic.
  double present_optimum = 0.0;
  std::vector<GrowthRun> sorted_runs;  // in the order in which a lookup asks them
  double runs_asked = 0.0;             // of them, per lookup
  std::uint64_t tables = 0;            // of all sorted runs, as the following
  std::uint64_t unfiltered_tables = 0;
  std::uint64_t keys_in_tables = 0;
  std::uint64_t filter_bytes = 0;
  double bits_per_key = 0.0;
};

class FilterSizes;

// Makes a workload's lookups while a database is loaded: an equal part of them at each of the
// settings' points, between two writes, and at rest, when all compactions have ended. Compactions
// continue during the lookups, so the tree of a point is the one in the middle of its lookups.
// Single-threaded.
class GrowthMeasurement : public LoadObserver {
 public:
  //   workload   absent keys, at least one for each point and one more
  //   policy     of the database; null for none
  GrowthMeasurement(const Workload& workload, const KeySet& keys,
                    const rocksdb::FilterPolicy* policy, const ReadampSettings& settings,
                    Progress& progress);
  ~GrowthMeasurement();

  void Prepare(rocksdb::Options* options) override;
  void AfterPut(rocksdb::DB& db, std::size_t written) override;
  void AtRest(rocksdb::DB& db) override;

  // The last one is at rest.
  const std::vector<GrowthPoint>& Points() const { return points_; }

 private:
  void Measure(rocksdb::DB& db);
  void LookUp(rocksdb::DB& db, const std::vector<std::string>& asked, GrowthPoint* point) const;

  const Workload& workload_;
  const KeySet& keys_;
  const rocksdb::FilterPolicy* policy_;
  const ReadampSettings& settings_;
  Progress& progress_;
  std::unique_ptr<rocksdb::Env> env_;  // with the counting file system
  std::shared_ptr<FilterSizes> sizes_;
  std::chrono::steady_clock::time_point start_;
  std::size_t written_ = 0;
  std::vector<GrowthPoint> points_;
};

}  // namespace exactbloom::readamp
