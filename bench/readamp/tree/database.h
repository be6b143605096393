// A database of the run's keys under one filter policy.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>

#include <memory>
#include <string>

#include "readamp/keys/key_set.h"
#include "readamp/readamp_settings.h"
#include "support/interruption.h"
#include "table_list.h"

namespace exactbloom::readamp {

// Makes a policy from its string; "none" gives null. Throws InputError for a string that RocksDB or
// the policy refuses.
std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy(const std::string& policy);

// A database that is open for the lookups of one run.
struct OpenDatabase {
  std::unique_ptr<rocksdb::Env> env;  // with the counting file system; outlives the database
  std::unique_ptr<rocksdb::DB> db;
  std::shared_ptr<rocksdb::Statistics> statistics;
  std::shared_ptr<rocksdb::Cache> block_cache;  // null if nothing is to be cached
};

// Sees a database while it is loaded.
class LoadObserver {
 public:
  // May change the options of the new database, which the observer outlives.
  virtual void Prepare(rocksdb::Options* options) = 0;
  // After each key, when `written` keys are written.
  virtual void AfterPut(rocksdb::DB& db, std::size_t written) = 0;
  // When all keys are in tables and all compactions have ended.
  virtual void AtRest(rocksdb::DB& db) = 0;

 protected:
  ~LoadObserver() = default;
};

// The directory of a database, removed with all its files when this object is destroyed.
class Database {
 public:
  // Loads the stored keys into a tree of the kind that the settings name. A settled tree, one of
  // level-0 files, and one like the user's are the same for each policy and each run of the
  // program; the others depend on the times of RocksDB's compactions. Throws InputError if the
  // directory cannot be written.
  //   settings, keys   must outlive the database
  //   observer         of the load; null for none
  Database(const ReadampSettings& settings, const KeySet& keys,
           std::shared_ptr<const rocksdb::FilterPolicy> policy, LoadObserver* observer = nullptr);

  const ReadampSettings& Settings() const { return settings_; }
  const KeySet& Keys() const { return keys_; }
  const rocksdb::FilterPolicy* Policy() const { return policy_.get(); }

  // In the order in which a lookup asks them.
  const TableList& Tables() const { return tables_; }

  // Microseconds of processor time that loading took, over all threads and per key, with what the
  // observer did.
  double LoadCpuPerKey() const { return load_cpu_us_; }

  // Opens it for lookups. Filters and indexes are held in memory outside the block cache, which is
  // empty at first.
  OpenDatabase Open() const;

 private:
  rocksdb::Options MakeOptions(const std::shared_ptr<rocksdb::Cache>& block_cache) const;

  const ReadampSettings& settings_;
  const KeySet& keys_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::shared_ptr<const support::TemporaryPath> directory_;
  TableList tables_;
  double load_cpu_us_ = 0.0;
};

// The options of a database for the tree that the settings name: compaction, sizes, levels.
rocksdb::Options TreeOptions(const ReadampSettings& settings);

// Writes the stored keys into an empty database and waits until its compactions have ended. Throws
// InputError if it cannot be written.
void LoadTree(rocksdb::DB& db, const ReadampSettings& settings, const KeySet& keys,
              LoadObserver* observer);

}  // namespace exactbloom::readamp
