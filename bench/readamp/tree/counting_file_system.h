// A file system that counts the reads of table files by lookups, and can delay them.
//
// RocksDB counts the blocks that it wants; this counts the reads that it makes for them. Both must
// agree. With a latency, reads take as long as those of a modelled device, so that neither the
// machine's page cache nor its disk decides how long a lookup takes.
#pragma once

#include <rocksdb/file_system.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace exactbloom::readamp {

// What one thread has read of table files since its CountedThread was made.
struct FileReads {
  std::uint64_t reads = 0;            // single reads
  std::uint64_t batched_reads = 0;    // several at once
  std::uint64_t bytes = 0;            // of all, as requested
  std::vector<std::uint64_t> tables;  // file numbers, each once, since the last clear()

  std::uint64_t Total() const { return reads + batched_reads; }
};

// While it lives, reads of the thread that made it are counted and delayed. Reads of other threads,
// such as those of compactions, and reads during the opening of a database are not.
class CountedThread {
 public:
  CountedThread();
  ~CountedThread();
  CountedThread(const CountedThread&) = delete;
  CountedThread& operator=(const CountedThread&) = delete;

  FileReads& Reads() { return reads_; }

 private:
  FileReads reads_;
};

class CountingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // A read of a table file takes at least `latency` from the call on. Reads that are issued at once
  // are done at once, as by a device with a queue, so a batch takes that time once. The thread
  // sleeps most of the time and spins at the end.
  CountingFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target,
                     std::chrono::nanoseconds latency);

  static const char* kClassName() { return "readamp.CountingFileSystem"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override;

 private:
  std::chrono::nanoseconds latency_;
};

}  // namespace exactbloom::readamp
