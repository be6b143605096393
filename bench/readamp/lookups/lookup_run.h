// The lookups of a workload in a database, and their cost.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "readamp/tree/database.h"
#include "support/progress.h"
#include "workload.h"

namespace exactbloom::readamp {

// The cost of the lookups since the previous sample of a run.
struct TimeSample {
  double seconds = 0.0;  // since the beginning of the run
  std::uint64_t lookups = 0;
  std::uint64_t wasted_reads = 0;
  std::uint64_t tables = 0;  // at the time of the sample
  std::uint64_t level0_files = 0;
};

// What the lookups wasted in the tables of one level.
struct LevelWaste {
  std::uint64_t false_positives = 0;  // as RocksDB counts them; zero in scans, where it does not
  std::uint64_t wasted_reads = 0;     // zero where Measurement has none
};

struct Measurement {
  std::uint64_t lookups = 0;          // in scans: prefixes
  std::uint64_t true_negatives = 0;   // filter checks answered "absent"
  std::uint64_t false_positives = 0;  // checks that let an absent key through
  std::uint64_t filters_passed = 0;   // all checks answered "may match"

  // As counted by RocksDB.
  std::uint64_t data_blocks_read = 0;
  std::uint64_t bytes_read = 0;  // of data blocks
  std::uint64_t block_cache_hits = 0;
  std::uint64_t batched_reads = 0;  // that a MultiGet issued at once

  // As counted by the file system.
  std::uint64_t file_reads = 0;
  std::uint64_t file_batched_reads = 0;  // those of them that were issued with others at once
  std::uint64_t file_bytes_read = 0;
  // Tables that a lookup read from their files although they lack its key; none for MultiGet,
  // whose reads are for several keys.
  std::optional<std::uint64_t> wasted_reads;
  std::map<int, LevelWaste> by_level;  // each level of the tree; empty if that changes meanwhile
  std::uint64_t p50_file_reads = 0;    // per call, like the times below
  std::uint64_t p99_file_reads = 0;

  // From the storage device, by this process; none unless reads were direct and the kernel counts
  // them.
  std::optional<std::uint64_t> kernel_bytes_read;
  bool direct_reads = false;
  double cpu_us = 0.0;   // processor time per lookup, over all threads
  double mean_us = 0.0;  // by the clock, per call: a lookup, a batch, a scan
  double p50_us = 0.0;
  double p99_us = 0.0;
  std::vector<TimeSample> over_time;  // of kDuringWrites

  std::uint64_t AbsentChecks() const { return true_negatives + false_positives; }
  std::uint64_t SumOfLevels(std::uint64_t LevelWaste::*field) const;
};

// Looks up all keys of the workload with the settings' threads and compares every answer with the
// store. Throws WrongAnswer if a stored key is missed, or an answer is not what was stored.
//   step           the name of the run in the line of progress
//   read_latency   the least time of a read of a table file
Measurement Run(const Workload& workload, const Database& database, const std::string& step,
                std::chrono::nanoseconds read_latency, Progress& progress);

}  // namespace exactbloom::readamp
