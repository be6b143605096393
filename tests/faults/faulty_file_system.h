// A file system whose operations fail, fall short or corrupt data, as a FaultSource decides.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>
#include <string>

#include "fault_source.h"

namespace exactbloom::faults {

// Files are those of `target`. Written data are in the page cache at once, where they survive the
// end of a process, so syncs are not passed on.
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

// An environment with such a file system over the real one. RocksDB's sleep of a second after each
// background error takes a millisecond here.
std::unique_ptr<rocksdb::Env> NewFaultyEnv(FaultSource& faults);

}  // namespace exactbloom::faults
