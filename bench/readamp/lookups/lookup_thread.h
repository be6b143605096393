// One of the threads that look up keys.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp/readamp_settings.h"
#include "readamp/tree/counting_file_system.h"
#include "readamp/tree/table_list.h"
#include "workload.h"

namespace exactbloom::readamp {

// What all threads of a run share.
struct LookupTask {
  const Workload& workload;
  const KeySet& keys;
  const TableList& tables;
  const Settings& settings;
  rocksdb::DB& db;
  Progress& progress;
  std::atomic<std::size_t> next{0};  // in the workload's order
  std::atomic<std::uint64_t> wasted_reads{0};
  std::atomic<std::uint64_t> done{0};  // lookups
  std::atomic<bool> stop{false};
};

// What one thread counts.
struct ThreadCounts {
  std::uint64_t data_blocks_read = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t block_cache_hits = 0;
  FileReads file;
  std::vector<std::uint64_t> calls_by_reads;  // calls by their number of reads from files
  std::vector<float> microseconds;            // of each call
  std::string wrong_answer;
};

// Takes lookups of the task until there are none left, or an answer was wrong.
ThreadCounts LookKeysUp(LookupTask& task);

}  // namespace exactbloom::readamp
