// One of the threads that look up keys.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "lookup_run.h"

namespace exactbloom::readamp {

// What all threads of a run share.
struct LookupTask {
  LookupTask(const Workload& its_workload, const Database& its_database, rocksdb::DB& open,
             Progress& its_progress)
      : workload(its_workload), database(its_database), db(open), progress(its_progress) {}

  const Workload& workload;
  const Database& database;
  rocksdb::DB& db;
  Progress& progress;
  std::atomic<std::size_t> next{0};  // in the workload's order
  std::atomic<std::uint64_t> wasted_reads{0};
  std::atomic<std::uint64_t> done{0};  // lookups
  std::atomic<bool> stop{false};

  // What each thread adds at its end.
  std::mutex mutex;
  Measurement result;
  std::vector<float> microseconds;   // of each call
  std::vector<std::uint32_t> reads;  // from files, of each call
};

// Takes lookups of the task until there are none left. Throws WrongAnswer, and stops the other
// threads, if an answer is wrong.
void LookKeysUp(LookupTask& task);

}  // namespace exactbloom::readamp
