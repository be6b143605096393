// Writes during a run of lookups, and the cost of the lookups meanwhile.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "lookup_thread.h"
#include "workload.h"

namespace exactbloom::readamp {

// From its construction on, a thread keeps writing the stored keys with their present values, so
// that flushes and compactions change the tree but no answer.
class DuringWrites {
 public:
  explicit DuringWrites(LookupTask& task);
  ~DuringWrites();
  DuringWrites(const DuringWrites&) = delete;
  DuringWrites& operator=(const DuringWrites&) = delete;

  // Ends the writes. Returns samples taken at equal numbers of lookups: settings.samples, or fewer
  // if the lookups ended first. Throws InputError if a write failed.
  std::vector<TimeSample> Stop();

 private:
  void Write();
  void Sample();
  void TakeSample();

  LookupTask& task_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<bool> stop_{false};
  rocksdb::Status status_;
  std::vector<TimeSample> samples_;
  std::uint64_t lookups_ = 0;  // in the samples so far
  std::uint64_t wasted_reads_ = 0;
  std::thread writer_;
  std::thread sampler_;
};

}  // namespace exactbloom::readamp
