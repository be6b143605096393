// A file system that counts the reads of table files by lookups. RocksDB counts the blocks that it
// needs; this counts the reads that it makes for them. Both must agree.
#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace exactbloom::readamp {

// What one thread has read of table files since its CountedThread was made.
struct FileReads {
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;            // as requested
  std::vector<std::uint64_t> tables;  // file numbers, each once, since the last clear()
};

// While it lives, reads of the thread that made it are counted. Reads of other threads, such as
// those of compactions, are not.
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

// A new environment of the machine's file system with the counts.
std::unique_ptr<rocksdb::Env> NewCountingEnv();

}  // namespace exactbloom::readamp
