#include "counting_file_system.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

namespace exactbloom::readamp {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::FSReadRequest;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A sleeping thread may wake late by this much, so it spins for that long.
constexpr auto kLateness = std::chrono::microseconds(60);

// The counts of this thread, if its reads are counted.
thread_local FileReads* counted = nullptr;

void WaitUntil(Clock::time_point time) {
  if (time - Clock::now() > kLateness) std::this_thread::sleep_until(time - kLateness);
  while (Clock::now() < time) {
  }
}

// 12 of /database/000012.sst; 0 for files that are not tables.
std::uint64_t TableNumber(const std::string& path) {
  const std::filesystem::path file(path);
  if (file.extension() != ".sst") return 0;
  return std::strtoull(file.stem().c_str(), nullptr, 10);
}

class CountingFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  CountingFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, std::uint64_t number,
               std::chrono::nanoseconds latency)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), number_(number), latency_(latency) {}

  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions& options, Slice* result,
                char* scratch, IODebugContext* debug) const override {
    const auto start = Clock::now();
    IOStatus status =
        FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, debug);
    Count(start, 1, n);
    return status;
  }

  IOStatus MultiRead(FSReadRequest* requests, std::size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    const auto start = Clock::now();
    IOStatus status = FSRandomAccessFileOwnerWrapper::MultiRead(requests, count, options, debug);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += requests[i].len;
    if (counted != nullptr) counted->batched_reads += count;
    Count(start, 0, bytes);
    return status;
  }

 private:
  void Count(Clock::time_point start, std::uint64_t reads, std::uint64_t bytes) const {
    if (counted == nullptr) return;
    counted->reads += reads;
    counted->bytes += bytes;
    auto& tables = counted->tables;
    if (std::find(tables.begin(), tables.end(), number_) == tables.end()) {
      tables.push_back(number_);
    }
    if (latency_.count() > 0) WaitUntil(start + latency_);
  }

  std::uint64_t number_;
  std::chrono::nanoseconds latency_;
};

}  // namespace

CountedThread::CountedThread() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds: sleep as precisely as the kernel can
  counted = &reads_;
}

CountedThread::~CountedThread() { counted = nullptr; }

CountingFileSystem::CountingFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target,
                                       std::chrono::nanoseconds latency)
    : FileSystemWrapper(target), latency_(latency) {}

IOStatus CountingFileSystem::NewRandomAccessFile(const std::string& path,
                                                 const rocksdb::FileOptions& options,
                                                 std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                                 IODebugContext* debug) {
  IOStatus status = FileSystemWrapper::NewRandomAccessFile(path, options, file, debug);
  const std::uint64_t number = TableNumber(path);
  if (status.ok() && number != 0) {
    *file = std::make_unique<CountingFile>(std::move(*file), number, latency_);
  }
  return status;
}

}  // namespace exactbloom::readamp
