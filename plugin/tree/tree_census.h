// What a live tree holds: the keys and the filter bytes of each column family of a database, by
// level.
//
// A filter policy sees one table; the database's events tell the rest (tree_listener.cc). After one
// look at all tables, the events keep the census by what changed: tables that flushes and
// compactions make, move and delete. So a builder costs nothing that grows with the tree.
//
// All functions may be called by several threads at once. Those that change the census throw
// std::bad_alloc when memory is short; the census is doubtful then.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace exactbloom::tree {

// Of a table. Its properties say both; RocksDB's lists of tables only say how many keys there are.
struct TableCount {
  std::uint64_t keys = 0;  // in the filter if it is known, or else in the table
  std::optional<std::uint64_t> filter_bytes = 0;
};

struct LiveTable {
  int level = 0;
  std::uint64_t number = 0;  // the file's; no other table of the database has it
  TableCount count;
};

// Sorted runs of about the same size.
struct RunsOfSize {
  double keys = 0.0;  // of each run
  double count = 1.0;
  // Of each run, as far as it is there: the bytes of its filters, beside those of tables whose
  // filters' sizes are not known; these have so many keys.
  double filter_bytes = 0.0;
  double unknown_keys = 0.0;
};

// A column family's tree as a job that writes tables sees it. The runs are those that the tree will
// have, on average, until it is in this state again: the job's output, the runs that the job leaves
// alone, and a part of those that it takes in, since such runs come again.
struct TreeView {
  bool is_flush = false;  // each table of a flush is a run of its own
  std::vector<RunsOfSize> other_runs;
  double output_keys = 0.0;         // of the run that a compaction writes into, when it has ended
  double typical_flush_keys = 0.0;  // of one whose keys are not known yet; 0: the tree is empty

  double live_keys = 0.0;      // of the family
  double keys_to_write = 0.0;  // of a compaction, about
  // The bytes of filters beside those that the job has still to write, when it has ended: the most
  // that it can be, whichever other jobs end before.
  double other_filter_bytes = 0.0;
  double other_unknown_keys = 0.0;  // beside: of tables whose filters' sizes are not known
  // Of the other families of the database that share the policy: live keys, and filter bytes as
  // above.
  double shared_keys = 0.0;
  double shared_filter_bytes = 0.0;
};

class TreeCensus {
 public:
  using JobId = int;
  // Of a filter policy; families of one owner share a memory budget.
  using OwnerId = std::uint64_t;
  static constexpr OwnerId kNoOwner = 0;     // no table was made yet
  static constexpr OwnerId kOtherOwner = 1;  // a policy that does not follow trees

  // A look at all tables may overlap with events. Changes() before the look has to be handed to
  // Look(), which returns false and does nothing if the census changed in between.
  std::uint64_t Changes() const;
  bool Look(std::uint64_t changes_before, const std::string& session,
            const std::map<std::string, std::vector<LiveTable>>& families);
  // What is known of a table already, so that a look need not read it.
  std::optional<TableCount> CountOf(std::uint64_t number) const;
  // Whether there was any look yet.
  bool HasLooked() const;
  // Whether there was a look in this session, that is since the database was opened. If not, there
  // is nothing to go by.
  bool IsOf(const std::string& session) const;
  // Whether another look is wanted: something happened that events do not tell in full.
  bool IsDoubtful() const;
  void Doubt();
  // The database may be closed: its tables count no more, until the next look.
  void Close();

  void BeginFlush(const std::string& family, JobId job);
  // Events of different threads may come in another order than what they tell of, so an input need
  // not be known yet. Then it is counted as given, and its level does not matter.
  void BeginCompaction(const std::string& family, JobId job, int output_level,
                       const std::vector<LiveTable>& inputs);
  // The job finished a table, which is not in the tree yet. Returns whether the job is known.
  bool AddWritten(const std::string& family, JobId job, TableCount count);
  // A job that was not heard to begin, nor will be heard to end, finished a table: CompactFiles
  // does so. What it takes in is heard of when it is deleted.
  void AddUnheard(const std::string& family, JobId job, const LiveTable& table);
  // The job has ended: these tables are in the tree, and its inputs are not.
  void EndJob(const std::string& family, JobId job, const std::vector<LiveTable>& outputs);
  // The job changed nothing.
  void CancelJob(const std::string& family, JobId job);
  // Some jobs may have failed without a word.
  void CancelJobs();
  void Delete(std::uint64_t number);
  // A table was brought into the tree from outside, to a level that is not told.
  void AddIngested(const std::string& family, std::uint64_t number, TableCount count);

  void SetOwner(const std::string& family, OwnerId owner);

  // What the tables of a job get their filters by. Nothing if there was no look.
  //   level   of the table, which is all that is known of the job if it was not heard to begin
  std::optional<TreeView> View(const std::string& family, JobId job, int level) const;

  struct Total {
    double keys = 0.0;
    double filter_bytes = 0.0;
    double unknown_keys = 0.0;
  };
  // Of the families of this owner.
  Total TotalOf(OwnerId owner) const;

  struct Sum {
    std::uint64_t tables = 0;
    std::uint64_t keys = 0;
    std::uint64_t filter_bytes = 0;
    std::uint64_t unknown_keys = 0;  // of tables whose filters' sizes are not known

    void Add(const TableCount& count);
    void Subtract(const TableCount& count);
    void Add(const Sum& other);
    void Subtract(const Sum& part);  // at most all
  };
  // The live tables of a family by level, as far as they are known.
  std::vector<Sum> Levels(const std::string& family) const;

 private:
  struct Family {
    OwnerId owner = kNoOwner;
    std::vector<Sum> levels;
    // Each table of level 0 is a run; those of about the same size are counted together.
    std::map<int, Sum> level0_by_size;
  };
  struct Job {
    bool is_flush = false;
    bool is_unheard = false;
    int output_level = 0;
    std::map<std::uint64_t, bool> inputs;  // by number: whether it was known, or is gone
    Sum taken;
    std::map<int, Sum> taken_by_level;
    std::map<int, Sum> taken_from_level0;  // by size
    Sum written;                           // of an unheard job also in the tree
  };
  struct Table {
    Family* family;
    int level;
    TableCount count;
    bool is_from_look;  // the job that made it may not have been heard to have ended
  };

  static double TypicalFlushKeys(const Family& family);
  static void AddRunsOfLevel0(const Family& family, const Job& job, TreeView& view);
  static void AddDeeperRuns(const Family& family, const Job& job, TreeView& view);
  static void TakeAllAbove(const Family& family, Job& job);
  static double OutputKeys(const Family& family, const Job& job);
  static void RemoveTypicalInput(const Family& family, const Job& job, TreeView& view);
  void DoubtUnknown(const std::string& family);
  void ForgetOldJobs(const std::string& family);
  void AddMade(Family& family, const LiveTable& table);
  void AddMoved(Family& family, const LiveTable& table, bool was_known);
  void Add(Family& family, const LiveTable& table, bool is_from_look = false);
  bool Remove(std::uint64_t number);   // whether it was there
  bool TakeOut(std::uint64_t number);  // the same, for good
  void NoteGone(std::uint64_t number);
  Total TotalOf(const std::string& name, const Family& family, const Job* without) const;

  mutable std::mutex mutex_;
  std::uint64_t changes_ = 0;
  bool is_doubtful_ = false;
  bool is_closed_ = false;
  std::string session_;                     // empty: there was no look
  std::map<std::string, Family> families_;  // by name
  std::unordered_map<std::uint64_t, Table> tables_;
  // Tables that were taken in or moved before the job that made them was heard to have ended.
  std::unordered_set<std::uint64_t> known_early_;
  JobId last_job_ = 0;  // that was heard to begin
  JobId look_job_ = 0;  // the same, at the last look
  // Several families may be flushed in one job.
  std::map<std::pair<std::string, JobId>, Job> jobs_;
};

}  // namespace exactbloom::tree
