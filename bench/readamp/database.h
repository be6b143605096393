// A database of the run's keys under one filter policy: a settled tree with one sorted run a level.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "key_set.h"
#include "settings.h"

namespace exactbloom::readamp {

// Makes a policy of its string; "none" gives null. Throws InputError for a string that RocksDB, or
// the policy itself, does not take.
std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy(const std::string& policy);

// One SSTable of the tree.
struct Table {
  int sorted_run = 0;  // as in KeySet
  int level = 0;       // RocksDB's; the largest run is in the last one
  std::string smallest;
  std::string largest;
  std::uint64_t keys = 0;  // in its filter
  std::uint64_t filter_bytes = 0;
};

// Reads of a database that is open for them.
struct OpenDatabase {
  std::unique_ptr<rocksdb::DB> db;
  std::shared_ptr<rocksdb::Statistics> statistics;
  bool direct_reads = false;
};

// The directory of a database, removed with all its files when this object goes.
class Database {
 public:
  // Loads the stored keys: every sorted run is written, flushed and compacted to its level, the
  // bottommost first, so that the tree is the same for each policy and each run of the program.
  // Throws InputError when the directory cannot be written.
  Database(const Settings& settings, const KeySet& keys,
           std::shared_ptr<const rocksdb::FilterPolicy> policy);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The tables by sorted run and key.
  const std::vector<Table>& Tables() const { return tables_; }

  // Microseconds of processor time that loading took, over all threads and per key.
  double LoadCpuPerKey() const { return load_cpu_us_; }

  // Opens with an empty block cache of `block_cache_bytes`; filters and indexes are held outside
  // it. Direct reads are asked for and given up with a warning where the file system has none.
  OpenDatabase OpenForReads(std::size_t block_cache_bytes) const;

 private:
  rocksdb::Options MakeOptions(std::size_t block_cache_bytes) const;
  void Load(const KeySet& keys);
  void LoadSortedRun(rocksdb::DB* db, const KeySet& keys, int run) const;
  void ListTables(rocksdb::DB* db);

  const Settings& settings_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::string path_;
  std::vector<Table> tables_;
  double load_cpu_us_ = 0.0;
};

}  // namespace exactbloom::readamp
