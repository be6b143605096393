// A database of the run's keys under one filter policy.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp/readamp_settings.h"
#include "table_list.h"

namespace exactbloom::readamp {

// Makes a policy from its string; "none" gives null. Throws InputError for a string that RocksDB or
// the policy refuses.
std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy(const std::string& policy);

// The conditions of the lookups of one run, in the same database.
struct ReadConditions {
  std::size_t block_cache_bytes = 0;        // kWholeDatabase: all of it is cached already
  std::chrono::nanoseconds read_latency{};  // the least time of a read of a table file
};

// A database that is open for reads.
struct OpenDatabase {
  std::unique_ptr<rocksdb::Env> env;  // with the counting file system; outlives the database
  std::unique_ptr<rocksdb::DB> db;
  std::shared_ptr<rocksdb::Statistics> statistics;
  std::shared_ptr<rocksdb::Cache> block_cache;  // null if nothing is to be cached
  bool direct_reads = false;
};

// The directory of a database, removed with all its files when this object is destroyed.
class Database {
 public:
  // Loads the stored keys into a tree of the kind that the settings name. A settled tree, and one
  // of level-0 files, are the same for each policy and each run of the program; the others depend
  // on the times of RocksDB's compactions. Throws InputError if the directory cannot be written.
  Database(const Settings& settings, const KeySet& keys,
           std::shared_ptr<const rocksdb::FilterPolicy> policy);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // In the order in which a lookup asks them.
  const TableList& Tables() const { return tables_; }

  // Microseconds of processor time that loading took, over all threads and per key.
  double LoadCpuPerKey() const { return load_cpu_us_; }

  // Filters and indexes are held in memory outside the block cache, which is empty at first unless
  // it is to hold the whole database. Direct reads are used if the settings say so and the file
  // system has them.
  OpenDatabase OpenForReads(const ReadConditions& conditions) const;

  // Opens a copy of the database for writes that change its tree. The copy shares the table files
  // and is removed with the database.
  OpenDatabase OpenCopyForWrites(const ReadConditions& conditions) const;

 private:
  rocksdb::Options MakeOptions(const std::shared_ptr<rocksdb::Cache>& block_cache) const;
  OpenDatabase PrepareToOpen(const ReadConditions& conditions, rocksdb::Options* options) const;
  void OpenWith(rocksdb::Options options, const std::string& path, bool read_only,
                OpenDatabase* result) const;
  void PrepareCache(OpenDatabase& open, std::size_t block_cache_bytes) const;
  void Load(const KeySet& keys);

  const Settings& settings_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::string path_;
  TableList tables_;
  double load_cpu_us_ = 0.0;
};

}  // namespace exactbloom::readamp
