// The open databases of this process that have a tree listener, their column families, and the
// memory budgets that these share.
//
// One lock guards all of it. What is done under it calls neither RocksDB nor a log, and walks the
// tables of one family at most.
#pragma once

#include <rocksdb/db.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "tree.h"

namespace exactbloom::tree {

struct Family;

// A bound for the bytes of filters that families share by its name.
class Budget {
 public:
  explicit Budget(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::uint64_t bound() const { return bound_; }  // bytes; 0: none
  std::uint64_t set_at() const { return set_at_; }
  // Of live tables, of inputs of running jobs among them, and of tables in the making.
  const Tree::Bytes& held() const { return held_; }
  const std::set<Family*>& families() const { return families_; }

  // Sets the bound, unless one was set at a later moment (Registry::NextMoment()).
  void SetBound(std::uint64_t bytes, std::uint64_t moment);
  void Join(Family& family);
  void Leave(Family& family);
  // Takes over what has changed in the family's tree.
  void Recount(Family& family);
  // The runs of all families but this one, those of about the same size together.
  std::vector<analysis::EqualRuns> RunsBeside(const Family& own) const;

 private:
  struct Runs {
    std::uint64_t keys = 0;
    std::uint64_t count = 0;
  };
  // By size, and whether the filters are Ribbon filters.
  using Classes = std::map<std::pair<int, bool>, Runs>;

  static Classes ClassesOf(const Family& family);
  void Replace(Family& family, const Tree::Bytes& bytes, std::uint64_t change);
  void ReplaceRuns(Family& family, Classes runs);

  const std::string name_;
  std::uint64_t bound_ = 0;
  std::uint64_t set_at_ = 0;
  Tree::Bytes held_;
  std::set<Family*> families_;
  Classes classes_;  // sums over the families

  friend struct Family;
};

struct Family {
  std::string database;  // its path
  std::string name;
  std::optional<std::uint32_t> id;  // known from the first job on
  Tree tree;
  bool ribbon = false;           // whether its policy has Ribbon filters
  double bits_per_key = 10.0;    // of its policy
  std::map<int, double> logged;  // bits per key that were logged last, by level
  // The policy of tables that no policy of ExactBloom was asked for; empty once it was logged.
  std::optional<std::string> other_policy;

  Budget* budget = nullptr;  // of the policy of its last table; null: none
  // What the budget's sums have of it.
  Tree::Bytes counted;
  std::uint64_t counted_change = 0;
  Budget::Classes counted_runs;

  void Use(Budget* of_policy);
};

struct Database {
  Database(const rocksdb::DB& of, std::string session_id,
           const rocksdb::ColumnFamilyHandle* own_handle)
      : root(&of), path(of.GetName()), session(std::move(session_id)), default_family(own_handle) {}
  ~Database() { Close(); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const rocksdb::DB* const root;
  const std::string path;  // as RocksDB has it
  const std::string session;
  const rocksdb::ColumnFamilyHandle* const default_family;

  std::map<std::string, Family> families;
  std::unordered_map<std::uint64_t, Family*> owners;  // of tables, by their numbers
  bool is_closed = false;
  bool is_stale = true;    // a listing is wanted
  bool is_listed = false;  // there was one
  bool is_being_listed = false;
  bool has_read_files = false;  // the properties of its default family's tables
  std::chrono::steady_clock::time_point next_listing;
  bool is_spent_logged = false;    // that a budget is spent
  bool are_inputs_logged = false;  // or that the inputs of a compaction take it
  std::uint64_t logged_bound = 0;  // Budget::set_at() of the bound that was logged last

  Family* Find(const std::string& name);
  Family& FindOrAdd(const std::string& name);
  // Null if the id is that of a family that was dropped: those made again under its name have
  // larger ones.
  Family* Find(const std::string& name, std::uint32_t id);
  void Forget(const std::string& name);
  // Its tables count no longer.
  void Close();
};

class Registry {
 public:
  static Registry& Get();

  std::unique_lock<std::mutex> Lock() { return std::unique_lock<std::mutex>(mutex_); }

  // The others are called under Lock(), and may throw std::bad_alloc.

  // Returns the database with this root, a new one if it was opened again.
  std::shared_ptr<Database> FindOrAdd(const rocksdb::DB& root, const std::string& session,
                                      const rocksdb::ColumnFamilyHandle* default_family);
  std::shared_ptr<Database> Find(const rocksdb::DB& root) const;
  // The database that runs the job, or else the one of this path if the table is in its directory:
  // the worker of a compaction service names the path, too, but has numbers of its own and writes
  // elsewhere. Null if none is known, or if two may be meant: a path names a database only within
  // its file system.
  std::shared_ptr<Database> Find(const std::string& path, const std::string& family, JobId job,
                                 const std::string& table) const;
  // The database that has the table.
  std::shared_ptr<Database> FindOwner(const std::string& path, std::uint64_t number) const;
  // RocksDB deletes its own handle of the default family when it has closed the database.
  void Close(const rocksdb::ColumnFamilyHandle* default_family);
  // Something may have happened in any of them.
  void MarkAllStale();

  // Returns the budget of this name, which lives as long as the process.
  Budget& NamedBudget(const std::string& name);
  // Returns null if no policy and no SetMemoryBudget() has named it.
  Budget* FindBudget(const std::string& name);
  // Later than all moments that were returned before.
  std::uint64_t NextMoment() { return ++moment_; }

 private:
  template <typename Predicate>
  void CloseWhere(Predicate predicate);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Database>> databases_;
  std::map<std::string, Budget> budgets_;
  std::uint64_t moment_ = 0;
};

// Returns what is known of the database with this root. Throws std::bad_alloc.
std::shared_ptr<Database> Follow(rocksdb::DB& root);

}  // namespace exactbloom::tree
