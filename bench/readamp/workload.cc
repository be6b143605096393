#include "workload.h"

#include <fmt/format.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <thread>

#include "report/machine.h"

namespace exactbloom::readamp {
namespace {

// Lookups a thread takes at a time.
constexpr std::size_t kChunk = 64;

// Bytes that this process had the storage layer fetch (proc(5)), or 0 where the kernel does not
// say.
std::uint64_t KernelBytesRead() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (io >> name >> value) {
    if (name == "read_bytes:") return value;
  }
  return 0;
}

// What one thread counts.
struct ThreadCounts {
  std::uint64_t data_blocks_read = 0;
  std::uint64_t bytes_read = 0;
  std::vector<float> microseconds;
  std::string wrong_answer;
};

class Runner {
 public:
  Runner(const Workload& workload, const KeySet& keys, rocksdb::DB* db, const Settings& settings,
         Progress& progress)
      : workload_(workload), keys_(keys), db_(db), settings_(settings), progress_(progress) {}

  std::vector<ThreadCounts> Run() {
    std::vector<ThreadCounts> counts(static_cast<std::size_t>(settings_.threads));
    std::vector<std::thread> threads;
    threads.reserve(counts.size());
    for (ThreadCounts& mine : counts) threads.emplace_back([this, &mine] { RunThread(mine); });
    for (std::thread& thread : threads) thread.join();
    return counts;
  }

 private:
  void RunThread(ThreadCounts& counts) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    const std::size_t total = workload_.order.size();
    while (!stop_ && !bench::InterruptArrived()) {
      const std::size_t begin = next_.fetch_add(kChunk);
      if (begin >= total) break;
      const std::size_t end = std::min(begin + kChunk, total);
      for (std::size_t i = begin; i < end; ++i) LookUp(workload_.order[i], counts);
      progress_.Add(end - begin);
    }
    // Filters and indexes were read when the database was opened; what is read now are data blocks.
    counts.data_blocks_read = rocksdb::get_perf_context()->block_read_count;
    counts.bytes_read = rocksdb::get_perf_context()->block_read_byte;
  }

  void LookUp(std::size_t key_index, ThreadCounts& counts) {
    const std::string& key = keys_.keys[key_index];
    const bool stored = keys_.sorted_run[key_index] != kAbsent;
    rocksdb::PinnableSlice value;
    const auto start = std::chrono::steady_clock::now();
    const auto status = db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), key, &value);
    const auto elapsed = std::chrono::steady_clock::now() - start;
    counts.microseconds.push_back(std::chrono::duration<float, std::micro>(elapsed).count());

    if (!status.ok() && !status.IsNotFound()) {
      Refuse(counts, fmt::format("reading '{}': {}", key, status.ToString()));
    } else if (status.ok() != stored) {
      Refuse(counts, fmt::format(stored ? "the stored key '{}' was missed"
                                        : "the key '{}' was found but never stored",
                                 key));
    } else if (stored && value != MakeValue(key, settings_.value_bytes)) {
      Refuse(counts, fmt::format("the key '{}' has a wrong value", key));
    }
  }

  void Refuse(ThreadCounts& counts, const std::string& what) {
    counts.wrong_answer = what;
    stop_ = true;
  }

  const Workload& workload_;
  const KeySet& keys_;
  rocksdb::DB* db_;
  const Settings& settings_;
  Progress& progress_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
};

double Quantile(std::vector<float>& values, double share) {
  if (values.empty()) return 0.0;
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

}  // namespace

std::vector<Workload> MakeWorkloads(const KeySet& keys, std::uint64_t lookups) {
  Workload absent{"absent", "keys that are not in the store", {}};
  Workload present{"present", "keys that are in the store", {}};
  Workload all{"hyphenation", "every key once, in the store or not", {}};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Workload& kind = keys.sorted_run[i] == kAbsent ? absent : present;
    if (kind.order.size() < lookups) kind.order.push_back(i);
    all.order.push_back(i);
  }
  return {absent, present, all};
}

Measurement Run(const Workload& workload, const KeySet& keys, const OpenDatabase& database,
                const Settings& settings, Progress& progress) {
  const std::uint64_t kernel_before = KernelBytesRead();
  const double cpu_before = bench::ProcessCpuMicroseconds();
  progress.Begin(workload.name, workload.order.size());
  std::vector<ThreadCounts> counts =
      Runner(workload, keys, database.db.get(), settings, progress).Run();
  progress.End();
  const double cpu_us = bench::ProcessCpuMicroseconds() - cpu_before;
  bench::CheckForInterrupts();

  Measurement result;
  result.lookups = workload.order.size();
  result.cpu_us = cpu_us / static_cast<double>(std::max<std::uint64_t>(1, result.lookups));
  result.kernel_bytes_read = KernelBytesRead() - kernel_before;
  result.kernel_bytes_are_meaningful = database.direct_reads && kernel_before > 0;
  std::vector<float> microseconds;
  for (const ThreadCounts& mine : counts) {
    if (!mine.wrong_answer.empty()) throw WrongAnswer(mine.wrong_answer);
    result.data_blocks_read += mine.data_blocks_read;
    result.bytes_read += mine.bytes_read;
    microseconds.insert(microseconds.end(), mine.microseconds.begin(), mine.microseconds.end());
  }
  result.p50_us = Quantile(microseconds, 0.50);
  result.p99_us = Quantile(microseconds, 0.99);

  const auto ticker = [&](rocksdb::Tickers name) {
    return database.statistics->getTickerCount(name);
  };
  result.true_negatives = ticker(rocksdb::BLOOM_FILTER_USEFUL);
  result.filters_passed = ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  result.false_positives = result.filters_passed - ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  return result;
}

}  // namespace exactbloom::readamp
