// A read-only file system of files that are given as strings.
#pragma once

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>

namespace exactbloom::fuzz {

// A file for random or sequential reads. The bytes must outlive it.
class MemoryFile : public rocksdb::FSRandomAccessFile, public rocksdb::FSSequentialFile {
 public:
  explicit MemoryFile(const std::string& bytes) : bytes_(bytes) {}

  rocksdb::IOStatus Read(std::uint64_t offset, std::size_t count,
                         const rocksdb::IOOptions& /*options*/, rocksdb::Slice* result,
                         char* scratch, rocksdb::IODebugContext* /*debug*/) const override {
    const std::size_t begin = std::min<std::uint64_t>(offset, bytes_.size());
    *result = {scratch, bytes_.copy(scratch, count, begin)};
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus Read(std::size_t count, const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = Read(place_, count, options, result, scratch, debug);
    place_ += result->size();
    return status;
  }

  rocksdb::IOStatus Skip(std::uint64_t count) override {
    place_ += count;
    return rocksdb::IOStatus::OK();
  }

 private:
  const std::string& bytes_;
  std::uint64_t place_ = 0;
};

class MemoryFiles : public rocksdb::FileSystemWrapper {
 public:
  MemoryFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  const char* Name() const override { return "MemoryFiles"; }

  rocksdb::IOStatus GetFileSize(const std::string& path, const rocksdb::IOOptions& /*options*/,
                                std::uint64_t* size, rocksdb::IODebugContext* /*debug*/) override {
    const auto file = files.find(path);
    if (file == files.end()) return rocksdb::IOStatus::PathNotFound(path);
    *size = file->second.size();
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& /*options*/,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* /*debug*/) override {
    return Open(path, result);
  }

  rocksdb::IOStatus NewSequentialFile(const std::string& path,
                                      const rocksdb::FileOptions& /*options*/,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                      rocksdb::IODebugContext* /*debug*/) override {
    return Open(path, result);
  }

  std::map<std::string, std::string> files;  // by their paths

 private:
  template <typename File>
  rocksdb::IOStatus Open(const std::string& path, std::unique_ptr<File>* result) const {
    const auto file = files.find(path);
    if (file == files.end()) return rocksdb::IOStatus::PathNotFound(path);
    *result = std::make_unique<MemoryFile>(file->second);
    return rocksdb::IOStatus::OK();
  }
};

}  // namespace exactbloom::fuzz
