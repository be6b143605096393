// A file system whose operations fail, fall short or corrupt what they carry, as a FaultSource
// says.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>
#include <string>

#include "fault_source.h"

namespace exactbloom::faults {

// Files are those of `target`. What is written is in their pages at once, where the end of a
// process does not touch it; so a sync has nothing to do, and is not passed on.
class FaultyFileSystem : public rocksdb::FileSystemWrapper {
 public:
  FaultyFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target, FaultSource& faults)
      : FileSystemWrapper(target), faults_(faults) {}

  const char* Name() const override { return "FaultyFileSystem"; }

  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* file,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;

 private:
  FaultSource& faults_;
};

// An environment with such a file system over the real one. Where RocksDB sleeps for a second
// behind each error in the background, here it is a millisecond.
std::unique_ptr<rocksdb::Env> NewFaultyEnv(FaultSource& faults);

}  // namespace exactbloom::faults
