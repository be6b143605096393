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
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "tree.h"

namespace exactbloom::tree {

class Database;
struct Family;

struct BudgetSetting {
  std::uint64_t bound = 0;             // bytes; 0 is no bound
  std::optional<bool> covers_indexes;  // as well as filters; nothing for as before
  std::uint64_t made_at = 0;           // Registry::NextMoment()
};

// Bounds the bytes of all families whose policies name it. All is called under Registry::Lock();
// Count also under the lock of the family's database.
class Budget {
 public:
  explicit Budget(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const BudgetSetting& setting() const { return setting_; }
  // Counts live tables, the inputs of running jobs among them, and tables in the making.
  const TableSum& held() const { return held_; }
  bool CoversIndexes() const { return setting_.covers_indexes.value_or(false); }
  std::uint64_t CoveredIndexBytes() const { return CoversIndexes() ? held_.index_bytes : 0; }
  // Returns the bytes that the bound covers.
  std::uint64_t Used() const { return held_.filter_bytes + CoveredIndexBytes(); }
  const std::set<const Family*>& families() const { return families_; }

  // Takes the setting unless one that was made later rules.
  void Set(const BudgetSetting& setting);
  void Leave(Family& family);
  // Takes over the sums of the family's tree, and its runs if it has others than before.
  void Count(Family& family, bool has_other_runs);
  // Returns the runs of all other families, those of about the same size together.
  std::vector<analysis::EqualRuns> RunsBeside(const Family& own) const;

  // Keys and number of runs by size class, and by whether their filters are Ribbon filters. In a
  // class sizes differ by less than a fifth: a process may have thousands of runs.
  using Classes = std::map<std::pair<int, bool>, std::pair<double, double>>;

 private:
  void ReplaceRuns(Family& family, Classes runs);

  const std::string name_;
  BudgetSetting setting_;
  TableSum held_;
  Classes runs_;
  std::set<const Family*> families_;
};

// A policy wants this of the live tree.
struct SizingOptions {
  DivisionOptions division;
  Budget* budget = nullptr;  // null without one
  BudgetSetting setting;     // that the options give the budget; bound 0 if they give none
};

struct Family : Tree {
  Family(Database& of, std::string its_name);

  Database& database;
  const std::string name;
  std::optional<std::uint32_t> id;      // known from the first job on
  std::optional<SizingOptions> policy;  // that its last table had, or that FollowDatabase found
  JobId policy_job = 0;                 // tables of older jobs do not change it
  bool has_tables_of_others = false;    // its last table has a filter of another policy
  std::map<int, double> logged;         // level -> bits per key that were logged last
  // Names the policy of tables that no policy of ExactBloom was asked for; empty once it was
  // logged.
  std::optional<std::string> other_policy;
  // What its budget, or null, counts of it, under Registry::Lock().
  Budget* budget = nullptr;
  TableSum counted;
  Budget::Classes counted_runs;

  // Takes over a policy; nothing if it does not follow trees.
  void SetPolicy(const std::optional<SizingOptions>& options);
  // The same by a table of this job, unless a later job, or FollowDatabase after it had begun, has
  // told another one: a job keeps the policy that it began with when SetOptions changes it.
  void SetPolicyOf(JobId job, const std::optional<SizingOptions>& options);
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
  bool takes_long = false;      // a listing does
  bool lists_twice = false;     // the next listing may come too early
  bool has_read_files = false;  // properties of its default family's tables were read
  JobId newest_untold = 0;      // the compaction without a begin event that listed the tables last
  // The log has said that a budget is spent, or that a compaction's inputs take it, or the bound
  // that was set at this moment.
  bool is_spent_logged = false;
  bool are_inputs_logged = false;
  std::uint64_t logged_bound = 0;

  // Returns null if the family is not known, or the database is closed.
  std::shared_ptr<Family> Find(const std::string& name) const;
  std::shared_ptr<Family> FindOrAdd(const std::string& name);
  // Returns null if the family with this id was dropped: those made again under its name have
  // larger ids.
  std::shared_ptr<Family> Find(const std::string& name, std::uint32_t id);
  // Returns the policy of the families, if they share one budget.
  std::optional<SizingOptions> CommonPolicy() const;
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
  // Returns null if it is not known.
  std::shared_ptr<Database> Find(const rocksdb::DB& root);
  // Returns those with this path, which names a database only within its file system.
  Databases OfPath(const std::string& path);
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
  std::shared_ptr<Database> FindRoot(const rocksdb::DB& root) const;  // under Lock()
  template <typename Predicate>
  void CloseIf(Predicate is_over);

  std::mutex mutex_;
  Databases databases_;
  std::map<std::string, Budget> budgets_;
  std::uint64_t moment_ = 0;
};

}  // namespace exactbloom::tree
