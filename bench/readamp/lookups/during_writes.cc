#include "during_writes.h"

#include <fmt/format.h>
#include <rocksdb/metadata.h>

#include <cstddef>
#include <cstdint>

namespace exactbloom::readamp {

DuringWrites::DuringWrites(LookupTask& task)
    : task_(task),
      start_(std::chrono::steady_clock::now()),
      writer_([this] { Write(); }),
      sampler_([this] { Sample(); }) {}

DuringWrites::~DuringWrites() {
  stop_ = true;
  if (writer_.joinable()) writer_.join();
  if (sampler_.joinable()) sampler_.join();
}

std::vector<TimeSample> DuringWrites::Stop() {
  stop_ = true;
  writer_.join();
  sampler_.join();
  TakeSample();
  if (!status_.ok()) {
    throw InputError(fmt::format("cannot write during the lookups: {}", status_.ToString()));
  }
  return std::move(samples_);
}

void DuringWrites::Write() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  while (!stop_ && status_.ok()) {
    for (std::size_t i = 0; i < task_.keys.size() && !stop_ && status_.ok(); ++i) {
      if (task_.keys.SortedRun(i) == kAbsent) continue;
      const std::string key = task_.keys.Key(i);
      status_ = task_.db.Put(options, key, MakeValue(key, task_.settings.value_bytes));
    }
  }
}

void DuringWrites::Sample() {
  constexpr auto kInterval = std::chrono::milliseconds(1);
  const std::size_t step = task_.workload.order.size() / task_.settings.samples;
  while (!stop_) {
    const std::size_t next = samples_.size() + 1;
    if (next < task_.settings.samples && task_.done >= next * step) TakeSample();
    std::this_thread::sleep_for(kInterval);
  }
}

void DuringWrites::TakeSample() {
  const std::uint64_t lookups = task_.done;
  const std::uint64_t wasted_reads = task_.wasted_reads;
  rocksdb::ColumnFamilyMetaData tree;
  task_.db.GetColumnFamilyMetaData(&tree);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  samples_.push_back({elapsed.count(), lookups - lookups_, wasted_reads - wasted_reads_,
                      tree.file_count, tree.levels.front().files.size()});
  lookups_ = lookups;
  wasted_reads_ = wasted_reads;
}

}  // namespace exactbloom::readamp
