// Writes beside a run of lookups, and what the lookups cost meanwhile.
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

// From its making on, a thread writes the stored keys again with the values that they have, one
// round after the other, so that flushes and compactions change the tree and no answer changes.
class DuringWrites {
 public:
  explicit DuringWrites(LookupTask& task);
  ~DuringWrites();
  DuringWrites(const DuringWrites&) = delete;
  DuringWrites& operator=(const DuringWrites&) = delete;

  // Ends the writes. Returns samples at equal numbers of lookups from one to the next:
  // settings.samples, or fewer if the lookups were over before they could be taken. Throws
  // InputError if a write failed.
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
