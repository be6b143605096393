#include "lookup_thread.h"

#include <fmt/format.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "readamp/tree/counting_file_system.h"

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

  void Run() {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
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
    const auto start = std::chrono::steady_clock::now();
    call();
    const auto elapsed = std::chrono::steady_clock::now() - start;
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
    if (stored && value != MakeValue(key, settings_.value_bytes)) {
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
  }

  LookupTask& task_;
  const KeySet& keys_ = task_.database.Keys();
  const ReadampSettings& settings_ = task_.database.Settings();
  CountedThread counted_;
  std::vector<float> microseconds_;
  std::vector<std::uint32_t> reads_;
};

}  // namespace

void LookKeysUp(LookupTask& task) {
  try {
    LookupThread(task).Run();
  } catch (...) {
    task.stop = true;
    throw;
  }
}

}  // namespace exactbloom::readamp
