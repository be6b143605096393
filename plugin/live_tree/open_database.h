// What is known of an open database: its tables and the jobs that write them.
//
// Facts are kept by file number, and each is applied at most once, so the order in which threads
// report them does not matter. A snapshot of RocksDB's own lists starts the tree; the end of each
// job changes it; what events do not tell (ingestion, moved tables, deleted ranges) is wrong until
// the next snapshot.
//
//   building   its filter is being made             OnTableFileCreationStarted, and a builder
//   written    finished by a job that still runs    OnTableFileCreated
//   live       part of the tree                     end of the job, input of another, a snapshot
//   superseded a job has replaced it                end of that job; forgotten when it is deleted
//
// All functions are called under OpenDatabases::Lock(), and throw std::bad_alloc when memory is
// short.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/table_properties.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "exactbloom/tree_listener.h"
#include "family.h"
#include "share.h"

namespace exactbloom::tree {

// A table that a job reads or has written, or that a snapshot lists.
struct LiveFile {
  std::uint64_t number = 0;
  int level = 0;  // of an input its place among the levels of the inputs (RocksDB 7.8)
  std::optional<TableFacts> facts;
};

// What RocksDB lists, at one moment.
struct Snapshot {
  struct File {
    std::uint64_t number = 0;
    int level = 0;
    std::uint64_t entries = 0;  // 0: RocksDB has not opened it
    std::uint64_t bytes = 0;
    bool is_being_compacted = false;
  };
  std::uint64_t began = 0;  // OpenDatabase::changes() before it
  std::map<std::string, std::vector<File>> families;
  std::unordered_map<std::uint64_t, TableFacts> facts;  // of tables whose properties were read
};

class OpenDatabase {
 public:
  OpenDatabase(const rocksdb::DB& of, std::string session_id,
               const rocksdb::ColumnFamilyHandle* own_handle)
      : root(&of), path(of.GetName()), session(std::move(session_id)), default_family(own_handle) {}
  ~OpenDatabase() { Close(); }
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;

  const rocksdb::DB* const root;
  const std::string path;  // as RocksDB has it
  const std::string session;
  const rocksdb::ColumnFamilyHandle* const default_family;

  // Its tables count no longer.
  void Close();
  bool is_closed() const { return is_closed_; }

  // Families that were dropped and made again have the same name, and a larger id.
  void BeginFlush(const std::string& family, std::uint32_t id, int job, std::uint64_t thread);
  void BeginCompaction(const std::string& family, std::uint32_t id, int job, std::uint64_t thread,
                       int first_level, int output_level, const std::vector<LiveFile>& inputs);
  // The job's outputs are live, and inputs that are not among them no longer.
  void EndJob(const std::string& family, std::uint32_t id, int job,
              const std::vector<LiveFile>& inputs, const std::vector<LiveFile>& outputs);
  // The job failed and changed nothing.
  void CancelJob(const std::string& family, int job);

  void BeginTable(const std::string& family, int job, std::uint64_t number, int level);
  // Records the kind and the bytes of the filter of a table in the making, as far as it is known.
  void SetFilter(std::uint64_t number, std::uint64_t bytes, bool ribbon);
  void FinishTable(const std::string& family, int job, std::uint64_t number,
                   const rocksdb::TableProperties& properties);
  void AbandonTable(std::uint64_t number);
  void DeleteTable(std::uint64_t number);

  // Of the tables of a snapshot, those that changed since it began stay as they are.
  void Apply(const Snapshot& snapshot);
  bool Knows(std::uint64_t number) const;  // the table's properties
  std::uint64_t changes() const { return changes_; }

  // Null if the family is not known.
  Family* Find(const std::string& family);
  Family& FindOrAdd(const std::string& family);
  const std::map<std::string, Family>& families() const { return families_; }

  // Returns the tree as it will be for a table of a job.
  //   keys   of the table, or expected of it; 0: not known
  TreeView ViewOf(const std::string& family, int job, int level, std::uint64_t keys) const;
  // The runs as they are, without their wasted reads; tables without filters among them.
  std::vector<SortedRuns> ListRuns() const;

  bool is_loaded = false;          // a snapshot was applied
  bool is_stale = true;            // a snapshot is wanted
  bool is_being_read = false;      // by a snapshot
  bool is_spent_logged = false;    // that a budget is spent
  std::uint64_t logged_bound = 0;  // FilterBudget::set_at of the bound that was logged last
  std::chrono::steady_clock::time_point next_snapshot;

 private:
  enum class State : std::uint8_t { kBuilding, kWritten, kLive, kSuperseded, kDeleted };
  struct Job {
    Family* family = nullptr;
    bool is_flush = false;
    int output_level = 0;
    std::uint64_t thread = 0;
    std::uint64_t began = 0;   // jobs before it
    std::uint64_t change = 0;  // changes() when it began
    std::uint64_t keys = 0;    // of the inputs
    RunSums inputs;            // that have filters
    std::vector<std::uint64_t> input_numbers;
    TableSum written;  // what it has written
    std::vector<std::uint64_t> written_numbers;
  };
  struct Table {
    Family* family = nullptr;
    Job* writer = nullptr;  // while that runs
    Job* reader = nullptr;  // the compaction that it is an input of
    std::uint64_t keys = 0;
    std::uint64_t filter_bytes = 0;
    std::uint64_t changed = 0;
    int level = 0;
    State state = State::kBuilding;
    bool has_facts = false;
    std::optional<bool> ribbon;  // nothing: not known
    std::uint8_t missed = 0;     // snapshots in which a table of an unknown job was not listed
  };
  using Tables = std::unordered_map<std::uint64_t, Table>;
  using Jobs = std::map<std::pair<int, std::string>, Job>;  // a job may flush several families

  static RunSums InputsOf(const Family& family, const Job* job, int level);
  static std::uint64_t KeysToWrite(const Family& family, const Job* job, int level);
  Family* FamilyOf(const std::string& name, std::uint32_t id);
  Job* FindJob(const std::string& family, int job);
  const Job* FindJob(const std::string& family, int job) const;
  Job* BeginJob(const std::string& family, std::uint32_t id, int job, std::uint64_t thread);
  Jobs::iterator Forget(Jobs::iterator job);
  void ForgetTables(const Family& family);
  Tables::iterator Forget(Tables::iterator table);
  // Changes a table, and the sums that it is part of.
  template <typename Change>
  void Alter(Table& table, Change change);
  void Count(const Table& table, bool is_added);
  void Learn(Table& table, const std::optional<TableFacts>& facts);
  void Install(Family& family, const LiveFile& file);
  void ApplyFamily(Family& family, const std::vector<Snapshot::File>& files,
                   const Snapshot& snapshot);

  bool is_closed_ = false;
  std::uint64_t changes_ = 0;
  std::uint64_t begun_jobs_ = 0;
  std::map<std::string, Family> families_;  // by name
  Tables tables_;                           // by number
  Jobs jobs_;
};

template <typename Change>
void OpenDatabase::Alter(Table& table, Change change) {
  Count(table, false);
  change(table);
  table.changed = ++changes_;
  Count(table, true);
}

}  // namespace exactbloom::tree
