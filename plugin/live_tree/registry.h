// The open databases of this process that have a tree listener, their column families, and the
// memory budgets that these share.
//
// Each database has a lock, which guards all of it and of its families; Registry::Lock() guards the
// list of databases and the budgets. A thread takes a database's before the registry's, and never
// those of two databases. Under them nothing calls RocksDB, sleeps, logs or destroys a database:
// RocksDB tells of deleted files from threads that hold locks of their own.
#pragma once

#include <rocksdb/db.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "tree.h"

namespace exactbloom::tree {

class Database;
struct Family;

// Bounds the bytes of all families whose policies name it. All is called under Registry::Lock(),
// Count and CountRuns also under the lock of the family's database.
class Budget {
 public:
  explicit Budget(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::uint64_t bound() const { return bound_; }  // bytes; 0 is no bound
  bool covers_indexes() const { return covers_indexes_; }
  std::uint64_t set_at() const { return set_at_; }
  // Counts live tables, the inputs of running jobs among them, and tables in the making.
  const TableSum& held() const { return held_; }
  std::uint64_t IndexBytes() const { return covers_indexes_ ? held_.index_bytes : 0; }
  // Returns what each family holds.
  const std::map<const Family*, TableSum>& families() const { return families_; }

  // Sets the bound unless one was set at a later moment (Registry::NextMoment()).
  void SetBound(std::uint64_t bytes, bool covers_indexes, std::uint64_t moment);
  void Leave(const Family& family);
  // Takes over the sums of the family's tree.
  void Count(const Family& family);
  // Takes over its live runs, too.
  void CountRuns(const Family& family);
  // Returns the runs of all other families, those of about the same size together.
  std::vector<analysis::EqualRuns> RunsBeside(const Family& own) const;

 private:
  // Keys and number of runs by size class, and by whether their filters are Ribbon filters. In a
  // class sizes differ by less than a fifth: a process may have thousands of runs.
  using Classes = std::map<std::pair<int, bool>, std::pair<double, double>>;

  void ReplaceRuns(const Family& family, Classes runs);

  const std::string name_;
  std::uint64_t bound_ = 0;
  bool covers_indexes_ = false;
  std::uint64_t set_at_ = 0;
  TableSum held_;
  Classes classes_;  // summed over the families
  std::map<const Family*, TableSum> families_;
  std::map<const Family*, Classes> runs_;
};

// A policy wants this of the live tree.
struct SizingOptions {
  DivisionOptions division;
  Budget* budget = nullptr;     // null without one
  std::uint64_t bound = 0;      // bytes that the options give the budget; 0 if they give none
  bool covers_indexes = false;  // and whether it covers indexes
  std::uint64_t made_at = 0;    // Registry::NextMoment()
};

struct Family : Tree {
  Family(Database& of, std::string its_name);

  Database& database;
  const std::string name;
  std::optional<std::uint32_t> id;      // known from the first job on
  std::optional<SizingOptions> policy;  // that its last table had, or that FollowDatabase found
  Budget* budget = nullptr;             // in which it counts, or null
  bool has_tables_of_others = false;    // its last table has a filter of another policy
  std::map<int, double> logged;         // level -> bits per key that were logged last
  // Names the policy of tables that no policy of ExactBloom was asked for; empty once it was
  // logged.
  std::optional<std::string> other_policy;

  // Takes over a policy; nothing if it does not follow trees.
  void SetPolicy(const std::optional<SizingOptions>& options);
  // Returns the policy of the database's other families, if these share one budget.
  std::optional<SizingOptions> PolicyOfOthers() const;
  // Makes its budget know what has changed in its tree.
  void Count();
};

class Database {
 public:
  Database(rocksdb::DB& of, std::string session_id, const rocksdb::ColumnFamilyHandle* own_handle)
      : root(&of), path(of.GetName()), session(std::move(session_id)), default_family(own_handle) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB* const root;
  const std::string path;  // as RocksDB has it
  const std::string session;
  const rocksdb::ColumnFamilyHandle* const default_family;

  // The lock guards the others.
  std::unique_lock<std::mutex> Lock() { return std::unique_lock<std::mutex>(mutex_); }

  Tables tables;
  std::map<std::string, std::shared_ptr<Family>> families;
  bool is_closed = false;
  bool is_listed = false;  // there was a listing
  bool is_being_listed = false;
  std::condition_variable listing_ended;
  std::chrono::steady_clock::time_point next_listing;
  bool has_read_files = false;  // properties of its default family's tables were read
  // The log has said that a budget is spent, or that a compaction's inputs take it, or the bound
  // with this Budget::set_at().
  bool is_spent_logged = false;
  bool are_inputs_logged = false;
  std::uint64_t logged_bound = 0;

  // Returns null if the family is not known, or the database is closed.
  std::shared_ptr<Family> Find(const std::string& name) const;
  std::shared_ptr<Family> FindOrAdd(const std::string& name);
  // Returns null if the family with this id was dropped: those made again under its name have
  // larger ids.
  std::shared_ptr<Family> Find(const std::string& name, std::uint32_t id);
  void Forget(const std::string& name);

  // Takes the lock. From then on its tables count no longer. Waits for a listing.
  void Close();

 private:
  std::mutex mutex_;
};

using Databases = std::vector<std::shared_ptr<Database>>;

class Registry {
 public:
  static Registry& Get();

  std::unique_lock<std::mutex> Lock() { return std::unique_lock<std::mutex>(mutex_); }

  // These take the locks that they need, and may throw std::bad_alloc.

  // Returns the database with this root; a new one if it was opened again.
  std::shared_ptr<Database> Follow(rocksdb::DB& root);
  std::shared_ptr<Database> Find(const rocksdb::DB& root);
  // Returns the database that runs the job, or else the one of this path if the table is in its
  // directory: the worker of a compaction service names the path, too, but has numbers of its own
  // and writes elsewhere. Returns null if none is known, or if two may be meant: a path names a
  // database only within its file system.
  std::shared_ptr<Database> Find(const std::string& path, const std::string& family, JobId job,
                                 const std::string& table);
  // Returns the database of this path, or of several the one that has or had the table;
  // null if more have.
  std::shared_ptr<Database> FindOwner(const std::string& path, std::uint64_t number);
  // RocksDB deletes its own handle of the default family when it has closed the database.
  void Close(const rocksdb::ColumnFamilyHandle* default_family);
  // Something may have happened in any database.
  void MarkAllStale();

  // The others are called under Lock().

  // Returns the budget of this name, which lives as long as the process.
  Budget& NamedBudget(const std::string& name);
  // Returns null if no policy and no SetMemoryBudget() has named it.
  Budget* FindBudget(const std::string& name);
  // Later than all moments that were returned before.
  std::uint64_t NextMoment() { return ++moment_; }

 private:
  Databases OfPath(const std::string& path);
  template <typename Predicate>
  void CloseAll(Predicate is_over);

  std::mutex mutex_;
  Databases databases_;
  std::map<std::string, Budget> budgets_;
  std::uint64_t moment_ = 0;
};

}  // namespace exactbloom::tree
