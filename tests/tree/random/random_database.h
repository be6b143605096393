// A database that is changed at random, by all that may change its trees, and read meanwhile.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "budget_watch.h"
#include "followed_database.h"
#include "tests/faults/faulty_file_system.h"

namespace exactbloom {

// What a family may have: exactbloom with Ribbon filters and without, with budgets and without, and
// other policies.
struct RandomPolicy {
  RandomPolicy(std::string its_text, double most_bits, bool has_ribbon = false,
               std::string its_budget = "");

  std::string text;
  double bits_per_key;  // the most of a tree
  bool ribbon;
  std::string budget;    // empty: none
  PolicyPointer shared;  // by all families that do not make their own
};

// What the databases of a test have in common.
struct RandomSurroundings {
  std::vector<RandomPolicy> policies;
  ListenerPointer listener;            // which some share
  std::shared_ptr<BudgetWatch> watch;  // of all
  std::uint64_t families = 1;          // of a new database
  // Only what events tell of wholly is done, so that budgets hold for the files at every moment.
  bool only_grows = false;
};

class RandomDatabase {
 public:
  struct Family {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    const RandomPolicy* policy = nullptr;
    PolicyPointer object;
    bool keeps_all = false;  // no key is written twice or deleted
    bool counts = false;     // in the budget of its policy
    Known known = Known::kAll;
    double most_bits = 0.0;  // bits_per_key of the policies that it had
    bool had_ribbon = false;
    bool had_budget = false;       // so that tables may have no filter
    double recovered_bytes = 0.0;  // that recovered tables have beyond the average
    bool had_estimates = false;    // of the filters of a database that was not followed
    std::uint64_t scattered = 0;
    std::uint64_t in_order = 0;
    std::map<std::uint64_t, std::string> contents;
    std::set<std::uint64_t> deleted;
  };

  RandomDatabase(std::uint64_t seed, std::string path, const RandomSurroundings& surroundings);
  ~RandomDatabase();
  RandomDatabase(const RandomDatabase&) = delete;
  RandomDatabase& operator=(const RandomDatabase&) = delete;

  // Makes a change. Meanwhile threads expect to find the keys that nothing deletes, and no others.
  void Change();
  rocksdb::Status Reopen();
  // Of a database that nothing changes: expects that it holds what was written, that its tables are
  // known, that its filters have no more bits than they should, and that they filter.
  void ExpectRight(bool all_keys);
  void Close();

  rocksdb::DB& db() const { return *db_; }
  const std::string& path() const { return path_; }
  // The changes that were made, for a message.
  const std::string& steps() const { return steps_; }
  bool is_partitioned() const { return partition_bytes_ != 0; }
  // Whether filters that a budget counts may have other sizes than the files.
  bool HasUnknownFilters() const;

 private:
  using Status = rocksdb::Status;
  enum class Mode { kWriter, kReadOnly, kSecondary };

  static constexpr std::uint64_t kKeySpace = 6'000;          // of keys that are written again
  static constexpr std::uint64_t kScatteredSpace = 1 << 20;  // of those that are not

  // What a family holds as long as its handle exists.
  struct Lasting {
    rocksdb::ColumnFamilyHandle* handle;
    std::vector<std::pair<std::uint64_t, std::string>> contents;
  };

  static std::uint64_t ScatteredKey(std::uint64_t number);
  static std::uint64_t AbsentKey(std::uint64_t number);  // below kScatteredSpace / 2

  std::uint64_t Choose(std::uint64_t count) { return random_() % count; }
  Family& ChooseFamily();
  Known AllKnown() const { return is_partitioned() ? Known::kPartitions : Known::kAll; }
  void SetPolicy(Family& family);
  std::vector<rocksdb::ColumnFamilyHandle*> Handles() const;

  void OfferToReaders();
  void ReadWhileItChanges(std::uint64_t seed);
  void ReadSome(const Lasting& lasting, std::mt19937_64& random);
  // Readers let go of the family before.
  void Destroy(rocksdb::ColumnFamilyHandle* handle);

  rocksdb::Options OptionsOf(const Family& family) const;
  Status Open(const std::string& path, Database* db,
              std::vector<rocksdb::ColumnFamilyHandle*>* handles, Mode mode);
  void OpenAgain(bool follows);

  // Several families may be written at once.
  Status Put(Family& family, std::uint64_t key);
  Status PutNew(Family& family, bool in_order);
  Status WriteTo(Family& family, std::uint64_t count, std::mt19937_64& random);
  Status WriteTo(Family& family, std::uint64_t count) { return WriteTo(family, count, random_); }
  Status MakeFamily(const std::string& name, Family& family);

  Status Write();
  Status Flush();
  Status FlushAll();
  Status WriteAllAtOnce();
  Status CompactRange();
  Status CompactFiles();
  Status RewriteTables();
  Status Ingest();
  Status DeleteRange();
  Status DeleteFiles();
  Status CreateFamily();
  Status DropFamily();
  Status FailJobs();
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
  void ExpectFewWastedReads();

  std::mt19937_64 random_;
  const std::string path_;
  const RandomSurroundings& surroundings_;
  faults::FaultSource faults_;
  std::unique_ptr<rocksdb::Env> env_;
  rocksdb::CompactionStyle style_ = rocksdb::kCompactionStyleLevel;
  bool is_variant_ = false;            // dynamic level sizes, or incremental universal compaction
  std::uint64_t partition_bytes_ = 0;  // 0: none
  bool fits_memory_ = false;
  bool charges_cache_ = false;
  bool detects_faults_ = false;
  bool is_atomic_ = false;
  int open_files_ = -1;
  int subcompactions_ = 1;
  ListenerPointer listener_;
  std::map<std::string, Family> families_;
  Database db_;
  std::vector<std::unique_ptr<rocksdb::Iterator>> iterators_;
  bool has_dropped_family_ = false;
  std::atomic<std::uint64_t> values_ = 0;
  std::shared_mutex lasting_mutex_;  // held while a handle is read, and when it is destroyed
  std::vector<Lasting> lasting_;
  std::atomic<bool> is_changed_ = false;
  std::string steps_;
};

}  // namespace exactbloom
