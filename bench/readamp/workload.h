// Lookups in an open database, and what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "database.h"
#include "key_set.h"
#include "report/progress.h"
#include "settings.h"

namespace exactbloom::readamp {

// Which keys are looked up, once each, in this order.
struct Workload {
  std::string name;         // as in the JSON
  std::string description;  // for the table
  std::vector<std::size_t> order;
};

// absent, present and hyphenation: keys not in the store, keys in it, and every key once.
std::vector<Workload> MakeWorkloads(const KeySet& keys, std::uint64_t lookups);

struct Measurement {
  std::uint64_t lookups = 0;
  std::uint64_t true_negatives = 0;   // filter checks answered "absent"
  std::uint64_t false_positives = 0;  // checks that let an absent key through
  std::uint64_t data_blocks_read = 0;
  std::uint64_t bytes_read = 0;              // of data blocks, as RocksDB counts them
  std::uint64_t filters_passed = 0;          // all checks answered "may match"
  std::uint64_t kernel_bytes_read = 0;       // from the storage device, by this process
  bool kernel_bytes_are_meaningful = false;  // reads were direct, and the kernel counts them
  double cpu_us = 0.0;                       // processor time of a lookup, over all threads
  double p50_us = 0.0;
  double p99_us = 0.0;

  std::uint64_t AbsentChecks() const { return true_negatives + false_positives; }
};

// Looks all keys of the workload up with `threads` threads and compares every answer with the
// store. Throws WrongAnswer if a stored key is missed, or an answer is not what was stored.
Measurement Run(const Workload& workload, const KeySet& keys, const OpenDatabase& database,
                const Settings& settings, Progress& progress);

}  // namespace exactbloom::readamp
