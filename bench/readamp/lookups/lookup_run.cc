#include "lookup_run.h"

#include <fmt/format.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <future>
#include <vector>

#include "readamp/tree/counting_file_system.h"

namespace exactbloom::readamp {
namespace {

// What all threads of a run share.
struct LookupTask {
  const Workload& workload;
  const Database& database;
  rocksdb::DB& db;
  Progress& progress;
  std::atomic<std::size_t> next{0};  // in the workload's order
  std::atomic<bool> stop{false};
};

void CheckAnswer(const KeySet& keys, std::size_t i, const std::string& key,
                 const rocksdb::Status& status, const rocksdb::Slice& value) {
  const bool stored = keys.IsStored(i);
  if (!status.ok() && !status.IsNotFound()) {
    throw WrongAnswer(fmt::format("reading '{}': {}", key, status.ToString()));
  }
  if (status.ok() != stored) {
    throw WrongAnswer(stored ? fmt::format("the stored key '{}' was missed", key)
                             : fmt::format("the key '{}' was found but never stored", key));
  }
  if (stored && value != keys.Value(i)) {
    throw WrongAnswer(fmt::format("the key '{}' has a wrong value", key));
  }
}

// Makes a lookup, and returns how many tables it read that lack the key.
std::uint64_t Get(const LookupTask& task, std::size_t i, CountedThread& counted) {
  const KeySet& keys = task.database.Keys();
  const std::string key = keys.Key(i);
  std::vector<std::uint64_t>& read = counted.Reads().tables;
  read.clear();
  rocksdb::PinnableSlice value;
  const auto status =
      task.db.Get(rocksdb::ReadOptions(), task.db.DefaultColumnFamily(), key, &value);
  CheckAnswer(keys, i, key, status, value);
  if (read.empty()) return 0;
  const Table* holder = task.database.Tables().Holder(keys, i);
  const auto wasted = std::count_if(read.begin(), read.end(), [holder](std::uint64_t file_number) {
    return holder == nullptr || holder->file_number != file_number;
  });
  return static_cast<std::uint64_t>(wasted);
}

// Takes lookups of the task until there are none left, and returns what they read. Filters and
// indexes were read when the database was opened; only data blocks are read now.
Measurement LookKeysUp(LookupTask& task) try {
  constexpr std::size_t kChunk = 64;  // lookups that a thread takes at a time
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::PerfContext& counts = *rocksdb::get_perf_context();
  counts.Reset();
  CountedThread counted;
  Measurement part;
  const std::vector<std::size_t>& order = task.workload.order;
  while (!task.stop) {
    const std::size_t begin = task.next.fetch_add(kChunk);
    if (begin >= order.size()) break;
    const std::size_t end = std::min(begin + kChunk, order.size());
    for (std::size_t i = begin; i < end; ++i) part.wasted_reads += Get(task, order[i], counted);
    task.progress.Add(end - begin);
  }
  part.data_blocks_read = counts.block_read_count;
  part.bytes_read = counts.block_read_byte;
  part.block_cache_hits = counts.block_cache_hit_count;
  part.file_reads = counted.Reads().reads;
  part.file_bytes_read = counted.Reads().bytes;
  return part;
} catch (...) {
  task.stop = true;
  throw;
}

Measurement RunThreads(LookupTask& task) {
  std::vector<std::future<Measurement>> threads(
      static_cast<std::size_t>(task.database.Settings().threads));
  for (auto& thread : threads) {
    thread = std::async(std::launch::async, [&task] { return LookKeysUp(task); });
  }
  Measurement all;
  for (auto& thread : threads) {
    const Measurement part = thread.get();
    for (const auto count : {&Measurement::wasted_reads, &Measurement::data_blocks_read,
                             &Measurement::bytes_read, &Measurement::block_cache_hits,
                             &Measurement::file_reads, &Measurement::file_bytes_read}) {
      all.*count += part.*count;
    }
  }
  return all;
}

}  // namespace

Measurement Run(const Workload& workload, const Database& database, const std::string& step,
                Progress& progress) {
  const OpenDatabase open = database.Open();
  LookupTask task{workload, database, *open.db, progress};
  const std::clock_t before = std::clock();  // in microseconds
  progress.Begin(step, workload.order.size());
  Measurement result = RunThreads(task);
  progress.End();

  result.lookups = workload.order.size();
  result.cpu_us = static_cast<double>(std::clock() - before) /
                  static_cast<double>(std::max<std::uint64_t>(1, result.lookups));
  const auto ticker = [&](rocksdb::Tickers name) { return open.statistics->getTickerCount(name); };
  result.true_negatives = ticker(rocksdb::BLOOM_FILTER_USEFUL);
  result.filters_passed = ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  result.false_positives = result.filters_passed - ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  return result;
}

}  // namespace exactbloom::readamp
