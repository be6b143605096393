// Gives the policy exactbloom the live tree of a database. SetFilterPolicy (filter_policy.h) adds a
// listener; elsewhere
//
//   options.listeners.insert(options.listeners.begin(), exactbloom::NewTreeListener());
//
// which is the first because RocksDB 7.8 reads several back from an OPTIONS file as one name;
// or in the DBOptions of an OPTIONS file, once the policies are registered,
//
//   listeners=exactbloom_tree
//
// A filter policy sees one table; listeners get the events of all flushes and compactions. At the
// first event of an opened database the process lists its tables; from then on it knows keys and
// filter bytes of each sorted run. docs/configuration.md says what a table gets by them.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// The name of the listener in option strings and OPTIONS files.
inline constexpr char kTreeListenerName[] = "exactbloom_tree";

// Returns a new listener. Several databases may share one, a database may have several, and it may
// be made before or after the policy and destroyed in any order. An event costs some microseconds,
// and a list of all tables, which few events need, at most 5 ms in a second. What is known of a
// database is freed when that is closed. Throws std::bad_alloc when memory is short; the listener
// itself never throws.
std::shared_ptr<rocksdb::EventListener> NewTreeListener();

// Lists the tables of a database that has just been opened, or of column families that were
// imported, so that GetSortedRuns lists them and their filters count in memory budgets from now on
// (memory_budget.h). It reads how many keys and filter bytes the tables have: all of level 0, and
// of each level below it at most 64, from which the others follow. With more than 64 column
// families it is 4,096 divided by their number, but at least 8. Without this call a column family
// counts from its first flush or compaction on: of the default one the filters are read then; those
// of others are taken to have bits_per_key, and as many keys per entry as their tables that are
// known.
//   db         as DB::Open or the like returned it, with a tree listener; a StackableDB is followed
//              by the database that it is on. One that only reads is not followed, without an error
//   families   handles of the column families; that of the default one may be left out. Others that
//              are left out count from their first table on
// May be called again, and while the database is in use. Errors: InvalidArgument for a database
// without a tree listener; MemoryLimit.
rocksdb::Status FollowDatabase(rocksdb::DB* db,
                               const std::vector<rocksdb::ColumnFamilyHandle*>& families = {});

// A sorted run of a followed database, or those of level 0 that have about as many keys.
struct SortedRuns {
  std::string column_family;
  int level = 0;
  std::uint64_t runs = 1;  // 1 below level 0
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;  // in filters
  std::uint64_t filter_bytes = 0;
  // Whether most keys are in Ribbon filters. Tables that were written before the database was
  // opened are taken to have what the policy builds of as many keys in as many bytes.
  bool ribbon = false;
  // Predicted, in 1,000 lookups of absent keys that ask all of these runs: by the exact rate of one
  // filter with the mean keys and bytes of tables whose filters are alike. RocksDB counts the real
  // ones (measured_reads.h).
  double wasted_per_1000 = 0.0;

  // Returns the predicted rate of a filter.
  double FalsePositiveRate() const {
    return wasted_per_1000 / (1000.0 * static_cast<double>(runs));
  }
};

// Returns the sorted runs of all column families, from what is known, without asking RocksDB; none
// if the database is not followed yet. Throws std::bad_alloc.
std::vector<SortedRuns> GetSortedRuns(const rocksdb::DB& db);

}  // namespace exactbloom
