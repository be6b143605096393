#include "lookup_thread.h"

#include <fmt/format.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "lookup_walk.h"

namespace exactbloom::readamp {
namespace {

using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

// Lookups that a thread takes at a time, unless a batch is larger.
constexpr std::size_t kChunk = 64;

class LookupThread {
 public:
  explicit LookupThread(LookupTask& task) : task_(task) {}

  ThreadCounts Run() {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    const bool batches = task_.workload.kind == LookupKind::kMultiGet;
    const std::size_t chunk = batches ? task_.settings.batch : kChunk;
    const std::size_t total = task_.workload.order.size();
    while (!task_.stop && !support::InterruptArrived()) {
      const std::size_t begin = task_.next.fetch_add(chunk);
      if (begin >= total) break;
      const std::size_t end = std::min(begin + chunk, total);
      LookUpAll(begin, end);
      task_.done += end - begin;
      task_.progress.Add(end - begin);
    }
    // Filters and indexes were read when the database was opened; only data blocks are read now.
    counts_.data_blocks_read = rocksdb::get_perf_context()->block_read_count;
    counts_.bytes_read = rocksdb::get_perf_context()->block_read_byte;
    counts_.block_cache_hits = rocksdb::get_perf_context()->block_cache_hit_count;
    counts_.file = counted_.Reads();
    return std::move(counts_);
  }

 private:
  void LookUpAll(std::size_t begin, std::size_t end) {
    switch (task_.workload.kind) {
      case LookupKind::kGet:
      case LookupKind::kDuringWrites:
        for (std::size_t i = begin; i < end; ++i) Get(task_.workload.order[i]);
        break;
      case LookupKind::kMultiGet:
        MultiGet(begin, end);
        break;
      case LookupKind::kPrefixScan:
        for (std::size_t i = begin; i < end; ++i) Scan(task_.workload.order[i]);
        break;
    }
  }

  // Times a call to RocksDB and counts its reads.
  template <typename Call>
  void Time(const Call& call) {
    const std::uint64_t reads_before = counted_.Reads().Total();
    counted_.Reads().tables.clear();
    const auto start = std::chrono::steady_clock::now();
    call();
    const auto elapsed = std::chrono::steady_clock::now() - start;
    counts_.microseconds.push_back(std::chrono::duration<float, std::micro>(elapsed).count());
    const std::size_t reads = counted_.Reads().Total() - reads_before;
    if (reads >= counts_.calls_by_reads.size()) counts_.calls_by_reads.resize(reads + 1);
    ++counts_.calls_by_reads[reads];
  }

  void Get(std::size_t i) {
    const std::string key = task_.keys.Key(i);
    PinnableSlice value;
    Status status;
    Time([&] {
      status = task_.db.Get(rocksdb::ReadOptions(), task_.db.DefaultColumnFamily(), key, &value);
    });
    CheckAnswer(i, key, status, value);
    CountWasted([&] { return TableWith(i, key); });
  }

  void MultiGet(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    std::vector<std::string> keys;
    for (std::size_t i = begin; i < end; ++i)
      keys.push_back(task_.keys.Key(task_.workload.order[i]));
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
    const std::string prefix = task_.keys.Key(i).substr(0, task_.settings.prefix_bytes);
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
    const PrefixRange range = FindPrefix(task_.keys, prefix);
    if (!status.ok()) {
      Refuse(fmt::format("scanning '{}': {}", prefix, status.ToString()));
    } else if (entries.size() != range.end - range.begin) {
      Refuse(fmt::format("a scan of '{}' found {} keys of {}", prefix, entries.size(),
                         range.end - range.begin));
    } else {
      CheckEntries(range, entries);
      CountWastedScan(range);
    }
  }

  void CheckEntries(const PrefixRange& range,
                    const std::vector<std::pair<std::string, std::string>>& entries) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto& [key, value] = entries[i - range.begin];
      const std::size_t number = task_.keys.stored_in_order[i];
      if (key != task_.keys.Key(number)) Refuse(fmt::format("a scan found the key '{}'", key));
      CheckAnswer(number, key, Status::OK(), value);
    }
  }

  void CheckAnswer(std::size_t i, const std::string& key, const Status& status,
                   const Slice& value) {
    const bool stored = task_.keys.SortedRun(i) != kAbsent;
    if (!status.ok() && !status.IsNotFound()) {
      Refuse(fmt::format("reading '{}': {}", key, status.ToString()));
    } else if (status.ok() != stored) {
      Refuse(fmt::format(
          stored ? "the stored key '{}' was missed" : "the key '{}' was found but never stored",
          key));
    } else if (stored && value != MakeValue(key, task_.settings.value_bytes)) {
      Refuse(fmt::format("the key '{}' has a wrong value", key));
    }
  }

  // The number of the table file that has the key; 0 for an absent key.
  std::uint64_t TableWith(std::size_t i, const std::string& key) const {
    const int run = task_.tables.SortedRunOf(task_.keys, i);
    const Table* table = run == kAbsent ? nullptr : task_.tables.Find(run, key);
    return table == nullptr ? 0 : table->file_number;
  }

  template <typename Holder>
  void CountWasted(const Holder& holder) {
    const auto& read = counted_.Reads().tables;
    if (read.empty()) return;
    const std::uint64_t useful = holder();
    task_.wasted_reads += static_cast<std::uint64_t>(
        std::count_if(read.begin(), read.end(), [&](std::uint64_t n) { return n != useful; }));
  }

  void CountWastedScan(const PrefixRange& range) {
    std::vector<std::uint64_t>& read = counted_.Reads().tables;
    for (std::size_t i = range.begin; i < range.end && !read.empty(); ++i) {
      const std::size_t number = task_.keys.stored_in_order[i];
      const std::uint64_t useful = TableWith(number, task_.keys.Key(number));
      read.erase(std::remove(read.begin(), read.end(), useful), read.end());
    }
    task_.wasted_reads += read.size();
  }

  void Refuse(const std::string& what) {
    counts_.wrong_answer = what;
    task_.stop = true;
  }

  LookupTask& task_;
  CountedThread counted_;
  ThreadCounts counts_;
};

}  // namespace

ThreadCounts LookKeysUp(LookupTask& task) { return LookupThread(task).Run(); }

}  // namespace exactbloom::readamp
