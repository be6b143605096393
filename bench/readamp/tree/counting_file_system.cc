#include "counting_file_system.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

namespace exactbloom::readamp {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// The counts of this thread, if its reads are counted.
thread_local FileReads* counted = nullptr;

// 12 of /database/000012.sst; 0 for files that are not tables.
std::uint64_t TableNumber(const std::string& path) {
  const std::filesystem::path file(path);
  if (file.extension() != ".sst") return 0;
  return std::strtoull(file.stem().c_str(), nullptr, 10);
}

class CountingFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  CountingFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, std::uint64_t number)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), number_(number) {}

  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions& options, Slice* result,
                char* scratch, IODebugContext* debug) const override {
    Count(n);
    return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, debug);
  }

 private:
  void Count(std::uint64_t bytes) const {
    if (counted == nullptr) return;
    ++counted->reads;
    counted->bytes += bytes;
    auto& tables = counted->tables;
    if (std::find(tables.begin(), tables.end(), number_) == tables.end()) {
      tables.push_back(number_);
    }
  }

  std::uint64_t number_;
};

class CountingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit CountingFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target)
      : FileSystemWrapper(target) {}

  const char* Name() const override { return "readamp.CountingFileSystem"; }

  IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::NewRandomAccessFile(path, options, file, debug);
    const std::uint64_t number = TableNumber(path);
    if (status.ok() && number != 0) {
      *file = std::make_unique<CountingFile>(std::move(*file), number);
    }
    return status;
  }
};

}  // namespace

CountedThread::CountedThread() { counted = &reads_; }

CountedThread::~CountedThread() { counted = nullptr; }

std::unique_ptr<rocksdb::Env> NewCountingEnv() {
  return rocksdb::NewCompositeEnv(
      std::make_shared<CountingFileSystem>(rocksdb::FileSystem::Default()));
}

}  // namespace exactbloom::readamp
