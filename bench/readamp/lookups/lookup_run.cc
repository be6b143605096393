#include "lookup_run.h"

#include <fmt/format.h>
#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "readamp/open_rocksdb.h"
#include "readamp/tree/counting_file_system.h"
#include "support/machine.h"

namespace exactbloom::readamp {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

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

// What all threads of a run share.
struct LookupTask {
  LookupTask(const Workload& its_workload, const Database& its_database, rocksdb::DB& open,
             Progress& its_progress)
      : workload(its_workload), database(its_database), db(open), progress(its_progress) {
    for (const Table& table : database.Tables()) {
      level_of_file.emplace(table.file_number, table.level);
      result.by_level[table.level];
    }
  }

  const Workload& workload;
  const Database& database;
  rocksdb::DB& db;
  Progress& progress;
  std::unordered_map<std::uint64_t, int> level_of_file;
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

// Lookups that a thread takes at a time, unless a batch is larger.
constexpr std::size_t kChunk = 64;

class LookupThread {
 public:
  explicit LookupThread(LookupTask& task) : task_(task) {}

  void Run() {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->EnablePerLevelPerfContext();
    rocksdb::get_perf_context()->Reset();
    const bool batches = task_.workload.kind == LookupKind::kMultiGet;
    const std::size_t chunk = batches ? settings_.batch : kChunk;
    const std::size_t total = task_.workload.order.size();
    while (!task_.stop && !support::InterruptArrived()) {
      const std::size_t begin = task_.next.fetch_add(chunk);
      if (begin >= total) break;
      const std::size_t end = std::min(begin + chunk, total);
      LookUpAll(begin, end);
      task_.done += end - begin;
      task_.progress.Add(end - begin);
    }
    AddToResult(*rocksdb::get_perf_context(), counted_.Reads());
  }

 private:
  // Filters and indexes were read when the database was opened; only data blocks are read now.
  void AddToResult(const rocksdb::PerfContext& counts, const FileReads& reads) {
    const std::lock_guard<std::mutex> lock(task_.mutex);
    Measurement& result = task_.result;
    result.data_blocks_read += counts.block_read_count;
    result.bytes_read += counts.block_read_byte;
    result.block_cache_hits += counts.block_cache_hit_count;
    result.file_reads += reads.Total();
    result.file_batched_reads += reads.batched_reads;
    result.file_bytes_read += reads.bytes;
    for (const auto& [level, filters] : *counts.level_to_perf_context) {
      result.by_level[static_cast<int>(level)].false_positives +=
          filters.bloom_filter_full_positive - filters.bloom_filter_full_true_positive;
    }
    for (const auto& [level, wasted] : wasted_by_level_) {
      result.by_level[level].wasted_reads += wasted;
    }
    task_.microseconds.insert(task_.microseconds.end(), microseconds_.begin(), microseconds_.end());
    task_.reads.insert(task_.reads.end(), reads_.begin(), reads_.end());
  }

  void LookUpAll(std::size_t begin, std::size_t end) {
    if (task_.workload.kind == LookupKind::kMultiGet) {
      MultiGet(begin, end);
      return;
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (task_.workload.kind == LookupKind::kPrefixScan) {
        Scan(task_.workload.order[i]);
      } else {
        Get(task_.workload.order[i]);
      }
    }
  }

  // Times a call to RocksDB and counts its reads.
  template <typename Call>
  void Time(const Call& call) {
    const std::uint64_t reads_before = counted_.Reads().Total();
    counted_.Reads().tables.clear();
    const auto start = Clock::now();
    call();
    const auto elapsed = Clock::now() - start;
    microseconds_.push_back(std::chrono::duration<float, std::micro>(elapsed).count());
    reads_.push_back(static_cast<std::uint32_t>(counted_.Reads().Total() - reads_before));
  }

  void Get(std::size_t i) {
    const std::string key = keys_.Key(i);
    PinnableSlice value;
    Status status;
    Time([&] {
      status = task_.db.Get(rocksdb::ReadOptions(), task_.db.DefaultColumnFamily(), key, &value);
    });
    CheckAnswer(i, key, status, value);
    CountWasted(&i, &i + 1);
  }

  void MultiGet(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    std::vector<std::string> keys;
    for (std::size_t i = begin; i < end; ++i) keys.push_back(keys_.Key(task_.workload.order[i]));
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(count);
    std::vector<Status> statuses(count);
    Time([&] {
      task_.db.MultiGet(rocksdb::ReadOptions(), task_.db.DefaultColumnFamily(), count,
                        slices.data(), values.data(), statuses.data());
    });
    for (std::size_t i = 0; i < count; ++i) {
      CheckAnswer(task_.workload.order[begin + i], keys[i], statuses[i], values[i]);
    }
  }

  void Scan(std::size_t i) {
    const std::string prefix = keys_.Key(i).substr(0, settings_.prefix_bytes);
    rocksdb::ReadOptions read_options;
    read_options.prefix_same_as_start = true;
    std::vector<std::pair<std::string, std::string>> entries;
    Status status;
    Time([&] {
      const std::unique_ptr<rocksdb::Iterator> iterator(task_.db.NewIterator(read_options));
      for (iterator->Seek(prefix); iterator->Valid(); iterator->Next()) {
        entries.emplace_back(iterator->key().ToString(), iterator->value().ToString());
      }
      status = iterator->status();
    });
    const auto [begin, end] = keys_.StoredWithPrefix(prefix);
    if (!status.ok()) {
      throw WrongAnswer(fmt::format("scanning '{}': {}", prefix, status.ToString()));
    }
    if (entries.size() != end - begin) {
      throw WrongAnswer(
          fmt::format("a scan of '{}' found {} keys of {}", prefix, entries.size(), end - begin));
    }
    const std::uint32_t* stored = keys_.stored_in_order.data() + begin;
    for (std::size_t found = 0; found < entries.size(); ++found) {
      const auto& [key, value] = entries[found];
      if (key != keys_.Key(stored[found])) {
        throw WrongAnswer(fmt::format("a scan found the key '{}'", key));
      }
      CheckAnswer(stored[found], key, status, value);
    }
    CountWasted(stored, stored + entries.size());
  }

  void CheckAnswer(std::size_t i, const std::string& key, const Status& status,
                   const Slice& value) const {
    const bool stored = keys_.IsStored(i);
    if (!status.ok() && !status.IsNotFound()) {
      throw WrongAnswer(fmt::format("reading '{}': {}", key, status.ToString()));
    }
    if (status.ok() != stored) {
      throw WrongAnswer(stored ? fmt::format("the stored key '{}' was missed", key)
                               : fmt::format("the key '{}' was found but never stored", key));
    }
    if (stored && value != keys_.Value(i)) {
      throw WrongAnswer(fmt::format("the key '{}' has a wrong value", key));
    }
  }

  // Counts the tables that the last call read although they have none of these keys.
  template <typename Number>
  void CountWasted(const Number* first, const Number* last) {
    std::vector<std::uint64_t>& read = counted_.Reads().tables;
    for (; first != last && !read.empty(); ++first) {
      const Table* holder = task_.database.Tables().Holder(keys_, *first);
      if (holder == nullptr) continue;
      read.erase(std::remove(read.begin(), read.end(), holder->file_number), read.end());
    }
    task_.wasted_reads += read.size();
    for (const std::uint64_t number : read) {
      const auto found = task_.level_of_file.find(number);
      if (found != task_.level_of_file.end()) ++wasted_by_level_[found->second];
    }
  }

  LookupTask& task_;
  const KeySet& keys_ = task_.database.Keys();
  const ReadampSettings& settings_ = task_.database.Settings();
  CountedThread counted_;
  std::vector<float> microseconds_;
  std::vector<std::uint32_t> reads_;
  std::map<int, std::uint64_t> wasted_by_level_;
};

// Takes lookups of the task until there are none left. Throws WrongAnswer, and stops the other
// threads, if an answer is wrong.
void LookKeysUp(LookupTask& task) {
  try {
    LookupThread(task).Run();
  } catch (...) {
    task.stop = true;
    throw;
  }
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
      status = db.Put(options, key, keys.Value(i));
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

// 0 where this RocksDB has no such ticker.
std::uint64_t TickerCount(const rocksdb::Statistics& statistics, const std::string& name) {
  for (const auto& [ticker, known] : rocksdb::TickersNameMap) {
    if (known == name) return statistics.getTickerCount(ticker);
  }
  return 0;
}

void SetTickers(const rocksdb::Statistics& statistics, bool scans, Measurement& result) {
  const auto ticker = [&](rocksdb::Tickers name) { return statistics.getTickerCount(name); };
  if (scans) {
    result.true_negatives = ticker(rocksdb::BLOOM_FILTER_PREFIX_USEFUL);
    result.filters_passed = ticker(rocksdb::BLOOM_FILTER_PREFIX_CHECKED) - result.true_negatives;
    // Newer RocksDBs count what iterators ask here, and not as prefixes.
    for (const std::string level : {"last.level", "non.last.level"}) {
      const std::string seek = "rocksdb." + level + ".seek.";
      result.true_negatives += TickerCount(statistics, seek + "filtered");
      result.filters_passed += TickerCount(statistics, seek + "filter.match");
    }
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

std::uint64_t Measurement::SumOfLevels(std::uint64_t LevelWaste::*field) const {
  return std::accumulate(
      by_level.begin(), by_level.end(), std::uint64_t{0},
      [field](std::uint64_t sum, const auto& level) { return sum + level.second.*field; });
}

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
  if (during_writes) result.by_level.clear();
  SetCallFigures(task);
  SetTickers(*open.statistics, workload.kind == LookupKind::kPrefixScan, result);
  return std::move(result);
}

}  // namespace exactbloom::readamp
