// The lookups of a workload in a database, and their cost.
#pragma once

#include <cstdint>
#include <string>

#include "readamp/tree/database.h"
#include "support/progress.h"
#include "workload.h"

namespace exactbloom::readamp {

struct Measurement {
  std::uint64_t lookups = 0;
  std::uint64_t true_negatives = 0;   // filter checks answered "absent"
  std::uint64_t false_positives = 0;  // checks that let an absent key through
  std::uint64_t filters_passed = 0;   // all checks answered "may match"

  // As counted by RocksDB.
  std::uint64_t data_blocks_read = 0;
  std::uint64_t bytes_read = 0;  // of data blocks
  std::uint64_t block_cache_hits = 0;

  // As counted by the file system.
  std::uint64_t file_reads = 0;
  std::uint64_t file_bytes_read = 0;
  std::uint64_t wasted_reads = 0;  // tables that a lookup read although they lack its key

  double cpu_us = 0.0;  // processor time per lookup, over all threads

  std::uint64_t AbsentChecks() const { return true_negatives + false_positives; }
};

// Looks up all keys of the workload with the settings' threads and compares every answer with the
// store. Throws WrongAnswer if a stored key is missed, or an answer is not what was stored.
//   step   the name of the run in the line of progress
Measurement Run(const Workload& workload, const Database& database, const std::string& step,
                Progress& progress);

}  // namespace exactbloom::readamp
