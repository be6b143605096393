// Run: the threads of a workload, and the sums of what they counted.
#include <algorithm>
#include <fstream>
#include <memory>
#include <numeric>
#include <thread>

#include "during_writes.h"
#include "lookup_thread.h"
#include "support/machine.h"
#include "workload.h"

namespace exactbloom::readamp {
namespace {

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

double Quantile(std::vector<float>& values, double share) {
  if (values.empty()) return 0.0;
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

// A quantile of a histogram of whole numbers.
std::uint64_t Quantile(const std::vector<std::uint64_t>& counts, double share) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) total += count;
  if (total == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(total - 1));
  std::uint64_t below = 0;
  std::uint64_t value = 0;
  for (const std::uint64_t count : counts) {
    below += count;
    if (below > rank) break;
    ++value;
  }
  return value;
}

std::vector<ThreadCounts> RunThreads(LookupTask& task) {
  std::vector<ThreadCounts> counts(static_cast<std::size_t>(task.settings.threads));
  std::vector<std::thread> threads;
  threads.reserve(counts.size());
  for (ThreadCounts& mine : counts) {
    threads.emplace_back([&task, &mine] { mine = LookKeysUp(task); });
  }
  for (std::thread& thread : threads) thread.join();
  return counts;
}

void AddThreads(const std::vector<ThreadCounts>& counts, Measurement* result) {
  std::vector<float> microseconds;
  std::vector<std::uint64_t> calls_by_reads;
  for (const ThreadCounts& mine : counts) {
    if (!mine.wrong_answer.empty()) throw WrongAnswer(mine.wrong_answer);
    result->data_blocks_read += mine.data_blocks_read;
    result->bytes_read += mine.bytes_read;
    result->block_cache_hits += mine.block_cache_hits;
    result->file_reads += mine.file.Total();
    result->file_batched_reads += mine.file.batched_reads;
    result->file_bytes_read += mine.file.bytes;
    microseconds.insert(microseconds.end(), mine.microseconds.begin(), mine.microseconds.end());
    calls_by_reads.resize(std::max(calls_by_reads.size(), mine.calls_by_reads.size()));
    for (std::size_t i = 0; i < mine.calls_by_reads.size(); ++i) {
      calls_by_reads[i] += mine.calls_by_reads[i];
    }
  }
  if (!microseconds.empty()) {
    result->mean_us = std::accumulate(microseconds.begin(), microseconds.end(), 0.0) /
                      static_cast<double>(microseconds.size());
  }
  result->p50_us = Quantile(microseconds, 0.50);
  result->p99_us = Quantile(microseconds, 0.99);
  result->p50_file_reads = Quantile(calls_by_reads, 0.50);
  result->p99_file_reads = Quantile(calls_by_reads, 0.99);
}

void AddTickers(const rocksdb::Statistics& statistics, bool scans, Measurement* result) {
  const auto ticker = [&](rocksdb::Tickers name) { return statistics.getTickerCount(name); };
  if (scans) {
    result->true_negatives = ticker(rocksdb::BLOOM_FILTER_PREFIX_USEFUL);
    result->filters_passed = ticker(rocksdb::BLOOM_FILTER_PREFIX_CHECKED) - result->true_negatives;
  } else {
    result->true_negatives = ticker(rocksdb::BLOOM_FILTER_USEFUL);
    result->filters_passed = ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
    result->false_positives =
        result->filters_passed - ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  }
  rocksdb::HistogramData batches;
  statistics.histogramData(rocksdb::MULTIGET_IO_BATCH_SIZE, &batches);
  result->batched_reads = batches.sum;
}

}  // namespace

Measurement Run(const Workload& workload, const KeySet& keys, const Database& database,
                const Settings& settings, Progress& progress) {
  const bool during_writes = workload.kind == LookupKind::kDuringWrites;
  const ReadConditions conditions{settings.block_cache_bytes, settings.read_latency};
  const OpenDatabase open =
      during_writes ? database.OpenCopyForWrites(conditions) : database.OpenForReads(conditions);
  LookupTask task{workload, keys, database.Tables(), settings, *open.db, progress};
  const std::uint64_t kernel_before = KernelBytesRead();
  const double cpu_before = support::ProcessCpuMicroseconds();
  progress.Begin(workload.name, workload.order.size());
  std::unique_ptr<DuringWrites> writes;
  if (during_writes) writes = std::make_unique<DuringWrites>(task);
  const std::vector<ThreadCounts> counts = RunThreads(task);
  Measurement result;
  if (writes) result.over_time = writes->Stop();
  progress.End();
  const double cpu_us = support::ProcessCpuMicroseconds() - cpu_before;
  support::CheckForInterrupts();

  result.lookups = workload.order.size();
  result.cpu_us = cpu_us / static_cast<double>(std::max<std::uint64_t>(1, result.lookups));
  result.direct_reads = open.direct_reads;
  result.kernel_bytes_read = KernelBytesRead() - kernel_before;
  result.kernel_bytes_are_meaningful = open.direct_reads && kernel_before > 0;
  AddThreads(counts, &result);
  if (workload.kind != LookupKind::kMultiGet) result.wasted_reads = task.wasted_reads;
  AddTickers(*open.statistics, workload.kind == LookupKind::kPrefixScan, &result);
  return result;
}

}  // namespace exactbloom::readamp
