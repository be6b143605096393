// The open databases of this process that have a tree listener, their column families, and the
// memory budgets that these share.
//
// One lock guards all of it. What is done under it calls neither RocksDB nor a log; what RocksDB
// waits for walks the tables of one family at most.
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
#include <utility>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "tree.h"

namespace exactbloom::tree {

struct Family;

// Bounds the bytes of the filters of all families whose policies name it.
class Budget {
 public:
  explicit Budget(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::uint64_t bound() const { return bound_; }  // bytes; 0 is no bound
  std::uint64_t set_at() const { return set_at_; }
  // Counts live tables, the inputs of running jobs among them, and tables in the making.
  const Tree::Bytes& held() const { return held_; }
  const std::set<Family*>& families() const { return families_; }

  // Sets the bound unless one was set at a later moment (Registry::NextMoment()).
  void SetBound(std::uint64_t bytes, std::uint64_t moment);
  void Join(Family& family);
  void Leave(Family& family);
  // Takes over what has changed in the family's tree.
  void Recount(Family& family);
  // Returns the runs of all other families, those of about the same size together.
  std::vector<analysis::EqualRuns> RunsBeside(const Family& own) const;

 private:
  struct Runs {
    std::uint64_t keys = 0;
    std::uint64_t count = 0;
  };
  // The key is a size class, and whether the filters are Ribbon filters.
  using Classes = std::map<std::pair<int, bool>, Runs>;

  static Classes Classify(const Family& family);
  void Replace(Family& family, const Tree::Bytes& bytes, std::uint64_t change);
  void ReplaceRuns(Family& family, Classes runs);

  const std::string name_;
  std::uint64_t bound_ = 0;
  std::uint64_t set_at_ = 0;
  Tree::Bytes held_;
  std::set<Family*> families_;
  Classes classes_;  // summed over the families

  friend struct Family;
};

struct Family : std::enable_shared_from_this<Family> {
  std::string database;  // its path
  std::string name;
  std::optional<std::uint32_t> id;  // known from the first job on
  Tree tree;
  bool ribbon = false;           // whether its policy builds Ribbon filters
  double bits_per_key = 10.0;    // that its policy has
  bool has_policy = false;       // and SetPolicy has told
  std::map<int, double> logged;  // level -> bits per key that were logged last
  // Names the policy of tables that no policy of ExactBloom was asked for; empty once it was
  // logged.
  std::optional<std::string> other_policy;

  Budget* budget = nullptr;  // that the policy of its last table names, or null
  // The budget's sums hold this much of it.
  Tree::Bytes counted;
  std::uint64_t counted_change = 0;
  Budget::Classes counted_runs;

  void Use(Budget* of_policy);
};

struct Database {
  Database(const rocksdb::DB& of, std::string session_id,
           const rocksdb::ColumnFamilyHandle* own_handle)
      : root(&of), path(of.GetName()), session(std::move(session_id)), default_family(own_handle) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const rocksdb::DB* const root;
  const std::string path;  // as RocksDB has it
  const std::string session;
  const rocksdb::ColumnFamilyHandle* const default_family;

  std::map<std::string, std::shared_ptr<Family>> families;
  std::vector<std::shared_ptr<Family>> forgotten;  // which a listing destroys after unlocking
  // Number of a table -> its family; a tree, since a hash table would be rehashed under the lock.
  std::map<std::uint64_t, std::weak_ptr<Family>> owners;
  bool is_closed = false;
  bool is_stale = true;    // a listing is wanted
  bool is_listed = false;  // there was one
  bool is_being_listed = false;
  bool has_read_files = false;  // properties of its default family's tables were read
  std::chrono::steady_clock::time_point next_listing;
  // The log has said that a budget is spent, or that a compaction's inputs take it, or the bound
  // with this Budget::set_at().
  bool is_spent_logged = false;
  bool are_inputs_logged = false;
  std::uint64_t logged_bound = 0;

  // Returns null if the family is not known, or the database is closed.
  Family* Find(const std::string& name);
  Family& FindOrAdd(const std::string& name);
  // Returns null if the family with this id was dropped: those made again under its name have
  // larger ids.
  Family* Find(const std::string& name, std::uint32_t id);
  void Forget(const std::string& name);
  // From then on its tables count no longer.
  void Close();
};

class Registry {
 public:
  static Registry& Get();

  std::unique_lock<std::mutex> Lock() { return std::unique_lock<std::mutex>(mutex_); }

  // The others are called under Lock(), and may throw std::bad_alloc.

  // Returns the database with this root; a new one if it was opened again.
  std::shared_ptr<Database> FindOrAdd(const rocksdb::DB& root, const std::string& session,
                                      const rocksdb::ColumnFamilyHandle* default_family);
  std::shared_ptr<Database> Find(const rocksdb::DB& root) const;
  // Returns the database that runs the job, or else the one of this path if the table is in its
  // directory: the worker of a compaction service names the path, too, but has numbers of its own
  // and writes elsewhere. Returns null if none is known, or if two may be meant: a path names a
  // database only within its file system.
  std::shared_ptr<Database> Find(const std::string& path, const std::string& family, JobId job,
                                 const std::string& table) const;
  // Returns the database of this path that has the table, or null.
  std::shared_ptr<Database> FindOwner(const std::string& path, std::uint64_t number) const;
  // RocksDB deletes its own handle of the default family when it has closed the database. Returns
  // it, to be destroyed after unlocking, or null.
  std::shared_ptr<Database> Close(const rocksdb::ColumnFamilyHandle* default_family);
  // Something may have happened in any database.
  void MarkAllStale();

  // Returns the budget of this name, which lives as long as the process.
  Budget& NamedBudget(const std::string& name);
  // Returns null if no policy and no SetMemoryBudget() has named it.
  Budget* FindBudget(const std::string& name);
  // Later than all moments that were returned before.
  std::uint64_t NextMoment() { return ++moment_; }

 private:
  template <typename Predicate>
  std::shared_ptr<Database> CloseOne(Predicate predicate);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Database>> databases_;
  std::map<std::string, Budget> budgets_;
  std::uint64_t moment_ = 0;
};

// Returns what is known of the database with this root. Throws std::bad_alloc.
std::shared_ptr<Database> Follow(rocksdb::DB& root);

}  // namespace exactbloom::tree
