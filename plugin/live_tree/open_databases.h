// The open databases of this process that have a tree listener.
//
// One lock guards all of them, and the memory budgets: what is done under it takes microseconds,
// and calls neither RocksDB nor a log.
#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "open_database.h"

namespace exactbloom::tree {

class OpenDatabases {
 public:
  static OpenDatabases& All();

  std::unique_lock<std::mutex> Lock() { return std::unique_lock<std::mutex>(mutex_); }

  // Under Lock():
  // Returns the database with this root, a new one if it was opened again.
  std::shared_ptr<OpenDatabase> FindOrAdd(const rocksdb::DB& root, const std::string& session,
                                          const rocksdb::ColumnFamilyHandle* default_family);
  // Null if there is none. Of several with the same path (in different file systems) the last.
  std::shared_ptr<OpenDatabase> Find(const std::string& path) const;
  std::shared_ptr<OpenDatabase> Find(const rocksdb::DB& root) const;
  // RocksDB deletes its own handle of the default family when it has closed the database.
  void Close(const rocksdb::ColumnFamilyHandle* default_family);
  // Something may have happened in any of them.
  void MarkAllStale();

 private:
  template <typename Predicate>
  void CloseWhere(Predicate predicate);

  std::mutex mutex_;
  std::vector<std::shared_ptr<OpenDatabase>> databases_;
};

std::unique_ptr<rocksdb::EventListener> MakeTreeListener(bool warns_of_other_policies = true);

// Returns what is known of the database with this root. Throws std::bad_alloc.
std::shared_ptr<OpenDatabase> Follow(rocksdb::DB& root);

// Takes a snapshot of the database if one is wanted, at most 5 ms of them in a second; the first
// at once. Not under Lock(), nor under RocksDB's mutex.
//   families   whose tables' properties are read, of those that are not known yet: at most 64 of
//              each level below level 0, which takes a file access for each. Not with the first
//              snapshot alone
// Throws std::bad_alloc.
void SnapshotIfWanted(rocksdb::DB& root, const std::shared_ptr<OpenDatabase>& database,
                      const std::vector<rocksdb::ColumnFamilyHandle*>& families = {});

}  // namespace exactbloom::tree
