// A database that is changed at random, by all that may change its trees.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "followed_database.h"
#include "tests/faults/faulty_file_system.h"

namespace exactbloom {

// What a family may have: exactbloom with Ribbon filters and without, with budgets and without, and
// the policies of others.
struct RandomPolicy {
  ExactBloomOptions options;  // of exactbloom
  PolicyPointer shared;       // by all families that do not make their own from the options
  bool is_own = false;        // exactbloom

  bool HasBudget() const { return is_own && !options.budget.empty(); }
};

// What the databases of a test have in common. All may be called by several threads at once.
class RandomSurroundings {
 public:
  virtual ~RandomSurroundings() = default;
  virtual const std::vector<RandomPolicy>& Policies() const = 0;
  virtual const ListenerPointer& SharedListener() const = 0;
  // Sees that filters stay within their budgets.
  virtual const ListenerPointer& BudgetWatch() const = 0;
  // In this step filters come that no budget was asked for.
  virtual void ExpectMore() = 0;
};

class RandomDatabase {
 public:
  struct Family {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    RandomPolicy policy;
    PolicyPointer object;
    bool keeps_all = false;  // no key is written twice or deleted
    bool counts = false;     // in the budget of its policy
    Known known = Known::kAll;
    double most_bits = 0.0;  // bits_per_key of the policies that it had
    bool had_ribbon = false;
    bool had_estimates = false;  // of the filters of a database that was not followed
    std::uint64_t scattered = 0;
    std::uint64_t in_order = 0;
    std::map<std::uint64_t, std::string> contents;
    std::set<std::uint64_t> deleted;
  };

  RandomDatabase(std::uint64_t seed, std::string path, RandomSurroundings& surroundings);
  ~RandomDatabase();
  RandomDatabase(const RandomDatabase&) = delete;
  RandomDatabase& operator=(const RandomDatabase&) = delete;

  void Change();
  // Of a database that nothing changes: expects that it holds what was written, that its tables are
  // known, and that its filters have no more bits than they should.
  void ExpectRight(bool all_keys);
  void Close();

  rocksdb::DB& db() const { return *db_; }
  const std::map<std::string, Family>& families() const { return families_; }
  const std::string& path() const { return path_; }
  // The changes that were made, for a message.
  const std::string& steps() const { return steps_; }
  bool is_partitioned() const { return is_partitioned_; }
  // Whether filters that a budget counts may have other sizes than the files.
  bool HasUnknownFilters() const;

 private:
  using Status = rocksdb::Status;
  enum class Mode { kWriter, kReadOnly, kSecondary };

  static constexpr std::uint64_t kKeySpace = 6'000;          // of keys that are written again
  static constexpr std::uint64_t kScatteredSpace = 1 << 20;  // of those that are not

  std::uint64_t Choose(std::uint64_t count) { return random_() % count; }
  Family& ChooseFamily();
  Known AllKnown() const { return is_partitioned_ ? Known::kPartitions : Known::kAll; }
  void SetPolicy(Family& family);
  std::vector<rocksdb::ColumnFamilyHandle*> Handles() const;

  rocksdb::Options OptionsOf(const Family& family) const;
  Status Open(const std::string& path, Database* db,
              std::vector<rocksdb::ColumnFamilyHandle*>* handles, Mode mode);
  void OpenAgain(bool follows);

  Status Put(Family& family, std::uint64_t key);
  Status PutNew(Family& family, bool in_order);
  Status WriteTo(Family& family, std::uint64_t count);

  Status Write();
  Status Flush();
  Status FlushAll();
  Status CompactRange();
  Status CompactFiles();
  Status RewriteTables();
  Status Ingest();
  Status DeleteRange();
  Status DeleteFiles();
  Status CreateFamily();
  Status DropFamily();
  Status FailJobs();
  Status Reopen();
  Status FollowAgain();
  Status OpenReader();
  Status OpenCheckpoint();
  Status ChangeTrigger();
  Status ReleaseIterators();

  std::uint64_t PropertyOf(rocksdb::ColumnFamilyHandle* handle, const std::string& name);
  void AwaitEndOfJobs();
  void AwaitQuietFamilies();
  void ExpectContents(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
                      bool all_keys);
  std::string FindBudgetDifference();
  void ExpectKnown();
  void ExpectAverages();

  std::mt19937_64 random_;
  const std::string path_;
  RandomSurroundings& surroundings_;
  faults::FaultSource faults_;
  std::unique_ptr<rocksdb::Env> env_;
  rocksdb::CompactionStyle style_ = rocksdb::kCompactionStyleLevel;
  bool is_variant_ = false;  // dynamic level sizes, or incremental universal compaction
  bool is_partitioned_ = false;
  bool is_atomic_ = false;
  int open_files_ = -1;
  int subcompactions_ = 1;
  ListenerPointer listener_;
  std::map<std::string, Family> families_;
  Database db_;
  std::vector<std::unique_ptr<rocksdb::Iterator>> iterators_;
  bool has_dropped_family_ = false;
  std::uint64_t values_ = 0;
  std::string steps_;
};

}  // namespace exactbloom
