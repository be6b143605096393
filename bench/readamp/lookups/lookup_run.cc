#include "lookup_run.h"

#include <rocksdb/metadata.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <memory>
#include <numeric>

#include "lookup_thread.h"
#include "readamp/open_rocksdb.h"
#include "support/machine.h"

namespace exactbloom::readamp {
namespace {

using Clock = std::chrono::steady_clock;

// The samples over time in a run of kDuringWrites.
constexpr std::size_t kTimeSamples = 20;

// Bytes that this process had the storage layer fetch (proc(5)), or 0 if the kernel does not tell.
std::uint64_t KernelBytesRead() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (io >> name >> value) {
    if (name == "read_bytes:") return value;
  }
  return 0;
}

template <typename Number>
Number Quantile(std::vector<Number>& values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

// While it lives, a thread keeps writing the stored keys with their present values, so that flushes
// and compactions change the tree but no answer.
class Rewriter {
 public:
  Rewriter(const Database& database, rocksdb::DB& db)
      : written_(std::async(std::launch::async, [&] { return Write(database, db); })) {}
  ~Rewriter() { stop_ = true; }
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  // Throws InputError if a write failed.
  void Stop() {
    stop_ = true;
    CheckStatus(written_.get(), "cannot write during the lookups");
  }

 private:
  rocksdb::Status Write(const Database& database, rocksdb::DB& db) const {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    const KeySet& keys = database.Keys();
    rocksdb::Status status;
    for (std::size_t i = 0; !stop_ && status.ok(); i = (i + 1) % keys.size()) {
      if (!keys.IsStored(i)) continue;
      const std::string key = keys.Key(i);
      status = db.Put(options, key, MakeValue(key, database.Settings().value_bytes));
    }
    return status;
  }

  std::atomic<bool> stop_{false};
  std::future<rocksdb::Status> written_;  // its destructor waits for the thread
};

void TakeSample(Clock::time_point start, LookupTask& task) {
  std::vector<TimeSample>& samples = task.result.over_time;
  rocksdb::ColumnFamilyMetaData tree;
  task.db.GetColumnFamilyMetaData(&tree);
  TimeSample sample;
  sample.lookups = task.done;
  sample.wasted_reads = task.wasted_reads;
  sample.tables = tree.file_count;
  sample.level0_files = tree.levels.front().files.size();
  for (const TimeSample& earlier : samples) {
    sample.lookups -= earlier.lookups;
    sample.wasted_reads -= earlier.wasted_reads;
  }
  sample.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  samples.push_back(sample);
}

// Makes the lookups. With a `rewriter`, takes samples at equal numbers of lookups: kTimeSamples, or
// fewer if the lookups end first.
void RunThreads(LookupTask& task, Rewriter* rewriter) {
  constexpr auto kInterval = std::chrono::milliseconds(1);
  const std::size_t step = task.workload.order.size() / kTimeSamples;
  const auto start = Clock::now();
  std::vector<std::future<void>> threads(
      static_cast<std::size_t>(task.database.Settings().threads));
  for (auto& thread : threads) {
    thread = std::async(std::launch::async, [&task] { LookKeysUp(task); });
  }
  for (auto& thread : threads) {
    while (rewriter != nullptr && thread.wait_for(kInterval) != std::future_status::ready) {
      const std::size_t next = task.result.over_time.size() + 1;
      if (next < kTimeSamples && task.done >= next * step) TakeSample(start, task);
    }
  }
  for (auto& thread : threads) thread.get();
  if (rewriter == nullptr) return;
  rewriter->Stop();
  TakeSample(start, task);
}

void SetCallFigures(LookupTask& task) {
  Measurement& result = task.result;
  if (!task.microseconds.empty()) {
    result.mean_us = std::accumulate(task.microseconds.begin(), task.microseconds.end(), 0.0) /
                     static_cast<double>(task.microseconds.size());
  }
  result.p50_us = Quantile(task.microseconds, 0.50);
  result.p99_us = Quantile(task.microseconds, 0.99);
  result.p50_file_reads = Quantile(task.reads, 0.50);
  result.p99_file_reads = Quantile(task.reads, 0.99);
}

void SetTickers(const rocksdb::Statistics& statistics, bool scans, Measurement& result) {
  const auto ticker = [&](rocksdb::Tickers name) { return statistics.getTickerCount(name); };
  if (scans) {
    result.true_negatives = ticker(rocksdb::BLOOM_FILTER_PREFIX_USEFUL);
    result.filters_passed = ticker(rocksdb::BLOOM_FILTER_PREFIX_CHECKED) - result.true_negatives;
  } else {
    result.true_negatives = ticker(rocksdb::BLOOM_FILTER_USEFUL);
    result.filters_passed = ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
    result.false_positives =
        result.filters_passed - ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  }
  rocksdb::HistogramData batches;
  statistics.histogramData(rocksdb::MULTIGET_IO_BATCH_SIZE, &batches);
  result.batched_reads = batches.sum;
}

}  // namespace

Measurement Run(const Workload& workload, const Database& database, const std::string& step,
                std::chrono::nanoseconds read_latency, Progress& progress) {
  const bool during_writes = workload.kind == LookupKind::kDuringWrites;
  const OpenDatabase open = database.Open(read_latency, during_writes);
  LookupTask task(workload, database, *open.db, progress);
  const std::uint64_t kernel_before = KernelBytesRead();
  const double cpu_before = support::ProcessCpuMicroseconds();
  progress.Begin(step, workload.order.size());
  {
    std::unique_ptr<Rewriter> rewriter;
    if (during_writes) rewriter = std::make_unique<Rewriter>(database, *open.db);
    RunThreads(task, rewriter.get());
  }
  progress.End();
  support::CheckForInterrupts();

  Measurement& result = task.result;
  result.lookups = workload.order.size();
  result.cpu_us = (support::ProcessCpuMicroseconds() - cpu_before) /
                  static_cast<double>(std::max<std::uint64_t>(1, result.lookups));
  result.direct_reads = open.direct_reads;
  if (open.direct_reads && kernel_before > 0) {
    result.kernel_bytes_read = KernelBytesRead() - kernel_before;
  }
  if (workload.kind != LookupKind::kMultiGet) result.wasted_reads = task.wasted_reads;
  SetCallFigures(task);
  SetTickers(*open.statistics, workload.kind == LookupKind::kPrefixScan, result);
  return std::move(result);
}

}  // namespace exactbloom::readamp
