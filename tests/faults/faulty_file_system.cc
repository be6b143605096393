#include "faulty_file_system.h"

#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace exactbloom::faults {
namespace {

using rocksdb::FSRandomAccessFile;
using rocksdb::FSSequentialFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A table's footer is not corrupted: it has a checksum only from format_version 6 on, which RocksDB
// 7.8 does not have.
constexpr std::size_t kFooterBytes = 53;

IOStatus Failure() { return IOStatus::IOError("injected"); }

// The highest bit of a zero byte stays: in the number of restarts of a properties block it means a
// hash index, which RocksDB asserts to be there before it compares the checksum
// (docs/reliability.md).
void FlipBit(char* bytes, std::size_t count, FaultSource& faults) {
  char& byte = bytes[faults.Choose(count)];
  byte = static_cast<char>(byte ^ (1 << faults.Choose(byte == 0 ? 7 : 8)));
}

// Applies the fault to the bytes that were read; only those before `end` change.
void Spoil(Fault fault, std::size_t end, Slice* result, char* scratch, FaultSource& faults) {
  if (result->empty()) return;
  if (fault == Fault::kShorten) {
    *result = Slice(result->data(), faults.Choose(result->size()));
  } else if (end > 0) {
    if (result->data() != scratch) std::memcpy(scratch, result->data(), result->size());
    FlipBit(scratch, std::min(end, result->size()), faults);
    *result = Slice(scratch, result->size());
  }
}

FileKind FileKindOf(const std::string& path) {
  if (Slice(path).ends_with(".sst")) return FileKind::kTable;
  if (Slice(path).ends_with(".log")) return FileKind::kLog;
  const std::size_t name = path.rfind('/') + 1;
  return path.compare(name, 9, "MANIFEST-") == 0 ? FileKind::kManifest : FileKind::kOther;
}

// Only fails: RocksDB takes an early end of a log for its real end (docs/reliability.md).
class SequentialFile : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  SequentialFile(std::unique_ptr<FSSequentialFile> file, FileKind kind, FaultSource& faults)
      : FSSequentialFileOwnerWrapper(std::move(file)), kind_(kind), faults_(faults) {}

  IOStatus Read(std::size_t count, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) override {
    if (faults_.Draw(kind_, Operation::kRead)) return Failure();
    return FSSequentialFileOwnerWrapper::Read(count, options, result, scratch, debug);
  }

 private:
  FileKind kind_;
  FaultSource& faults_;
};

class RandomAccessFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  RandomAccessFile(std::unique_ptr<FSRandomAccessFile> file, std::uint64_t footer, FileKind kind,
                   FaultSource& faults)
      : FSRandomAccessFileOwnerWrapper(std::move(file)),
        footer_(footer),
        kind_(kind),
        faults_(faults) {}

  IOStatus Read(std::uint64_t offset, std::size_t count, const IOOptions& options, Slice* result,
                char* scratch, IODebugContext* debug) const override {
    const auto fault = faults_.Draw(kind_, Operation::kRead);
    // RocksDB's read-ahead asks for whole pages, and newer versions assert that a successful read
    // returns them.
    constexpr std::size_t kPage = 4096;
    const bool reads_ahead = count % kPage == 0;
    if (fault == Fault::kFail || (fault == Fault::kShorten && reads_ahead)) return Failure();
    IOStatus status =
        FSRandomAccessFileOwnerWrapper::Read(offset, count, options, result, scratch, debug);
    const std::size_t before_footer = offset < footer_ ? footer_ - offset : 0;
    if (fault && status.ok()) Spoil(*fault, before_footer, result, scratch, faults_);
    return status;
  }

  // One by one, each with its own faults.
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, std::size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    for (rocksdb::FSReadRequest* request = requests; request != requests + count; ++request) {
      request->status =
          Read(request->offset, request->len, options, &request->result, request->scratch, debug);
    }
    return IOStatus::OK();
  }

 private:
  std::uint64_t footer_;  // where it begins
  FileKind kind_;
  FaultSource& faults_;
};

class WritableFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WritableFile(std::unique_ptr<FSWritableFile> file, FileKind kind, FaultSource& faults)
      : FSWritableFileOwnerWrapper(std::move(file)), kind_(kind), faults_(faults) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const std::size_t fitting = faults_.TakeSpace(data.size());
    if (fitting < data.size()) {
      AppendToTarget(Slice(data.data(), fitting), options, debug).PermitUncheckedError();
      return IOStatus::NoSpace("injected: no space left");
    }
    const auto fault = faults_.Draw(kind_, Operation::kWrite);
    if (fault == Fault::kFail) return Failure();
    if (fault == Fault::kShorten && !data.empty()) {
      const Slice part(data.data(), faults_.Choose(data.size()));
      AppendToTarget(part, options, debug).PermitUncheckedError();
      return Failure();
    }
    if (fault == Fault::kCorrupt && data.size() > kFooterBytes) {
      std::string changed = data.ToString();
      FlipBit(changed.data(), changed.size() - kFooterBytes, faults_);
      return AppendToTarget(changed, options, debug);
    }
    return AppendToTarget(data, options, debug);
  }

  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*verification*/,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }

  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    if (faults_.Draw(kind_, Operation::kSync)) return Failure();
    return IOStatus::OK();
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Sync(options, debug);
  }
  IOStatus RangeSync(std::uint64_t /*offset*/, std::uint64_t /*bytes*/,
                     const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    return IOStatus::OK();
  }

 private:
  IOStatus AppendToTarget(const Slice& data, const IOOptions& options, IODebugContext* debug) {
    return FSWritableFileOwnerWrapper::Append(data, options, debug);
  }

  FileKind kind_;
  FaultSource& faults_;
};

class FaultyFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultyFileSystem(FaultSource& faults)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), faults_(faults) {}

  const char* Name() const override { return "FaultyFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* file,
                             IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::NewSequentialFile(path, options, file, debug);
    if (!status.ok()) return status;
    *file = std::make_unique<SequentialFile>(std::move(*file), FileKindOf(path), faults_);
    return status;
  }

  IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* debug) override {
    std::uint64_t bytes = 0;
    IOStatus status = GetFileSize(path, options.io_options, &bytes, debug);
    if (status.ok()) status = FileSystemWrapper::NewRandomAccessFile(path, options, file, debug);
    if (!status.ok()) return status;
    const std::uint64_t footer = bytes - std::min<std::uint64_t>(bytes, kFooterBytes);
    *file = std::make_unique<RandomAccessFile>(std::move(*file), footer, FileKindOf(path), faults_);
    return status;
  }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    const FileKind kind = FileKindOf(path);
    if (faults_.Draw(kind, Operation::kCreate)) return Failure();
    IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (!status.ok()) return status;
    *file = std::make_unique<WritableFile>(std::move(*file), kind, faults_);
    return status;
  }

 private:
  FaultSource& faults_;
};

class HastyClock : public rocksdb::SystemClockWrapper {
 public:
  HastyClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "HastyClock"; }
  void SleepForMicroseconds(int microseconds) override {
    SystemClockWrapper::SleepForMicroseconds(microseconds / 1000);
  }
};

class HastyEnv : public rocksdb::EnvWrapper {
 public:
  explicit HastyEnv(const std::shared_ptr<rocksdb::FileSystem>& file_system)
      : EnvWrapper(rocksdb::NewCompositeEnv(file_system)) {
    file_system_ = file_system;
    system_clock_ = std::make_shared<HastyClock>();
  }
};

}  // namespace

std::unique_ptr<rocksdb::Env> NewFaultyEnv(FaultSource& faults) {
  return std::make_unique<HastyEnv>(std::make_shared<FaultyFileSystem>(faults));
}

}  // namespace exactbloom::faults
