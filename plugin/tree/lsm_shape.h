// The shape of an open database's LSM tree: the keys and filter bytes of each column family by
// level, and the flushes and compactions that are running.
//
// A filter policy sees one table; the database's events tell the rest (tree_listener.cc). One scan
// of all tables starts the shape, and the events keep it current. So a filter's size costs nothing
// that grows with the tree.
//
// Events arrive from the threads of the jobs, so an event may arrive after one that it preceded:
// a table may be a compaction's input, or deleted, before the end of the flush that wrote it is
// reported. An event that mentions a table therefore settles it: what earlier jobs have still to
// report of that table is ignored.
//
// All functions may be called by several threads at once. Those that change the shape throw
// std::bad_alloc when memory is short; call MarkStale() then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "table_count.h"
#include "tree_view.h"

namespace exactbloom::tree {

class LsmShape {
 public:
  //   database   its path
  explicit LsmShape(std::string database = "") : database_(std::move(database)) {}
  using JobId = int;
  // Of a filter policy, or of the memory budget that several policies share.
  using PolicyId = std::uint64_t;
  static constexpr PolicyId kNoPolicy = 0;       // no table was written yet
  static constexpr PolicyId kForeignPolicy = 1;  // a policy that does not follow trees

  // A scan of all tables may overlap with events: pass what Changes() returned before the scan.
  // Refresh() returns false and does nothing if the shape changed since.
  std::uint64_t Changes() const;
  bool Refresh(std::uint64_t changes_before,
               const std::map<std::string, std::vector<LiveTable>>& families);
  // The count of a table whose filter size is known, so that a scan need not read the file.
  std::optional<TableCount> CountOf(std::uint64_t number) const;
  // Whether there was a complete scan. If not, the shape has no view.
  bool IsLoaded() const;
  // Whether a rescan is due, after something that events do not report in full.
  bool IsStale() const;
  void MarkStale();
  // The database is closed: its tables no longer count.
  void Close();

  void BeginFlush(const std::string& family, JobId job);
  void BeginCompaction(const std::string& family, JobId job, int output_level,
                       const std::vector<LiveTable>& inputs);
  // The job finished a table, which is not yet live. Returns false if the job is unknown.
  bool AddWritten(const std::string& family, JobId job, std::uint64_t number, TableCount count);
  // CompactFiles() fires no begin and end events: its finished tables count as live now, and its
  // inputs until they are deleted.
  void AddUnreported(const std::string& family, JobId job, const LiveTable& table);
  // The job's outputs are live, and its inputs no longer.
  void EndJob(const std::string& family, JobId job, const std::vector<LiveTable>& outputs);
  // The job failed and changed nothing.
  void CancelJob(const std::string& family, JobId job);
  void Delete(std::uint64_t number);
  // An external file was ingested, into an unknown level.
  void AddIngested(const std::string& family, std::uint64_t number, TableCount count);

  void SetPolicy(const std::string& family, PolicyId policy);

  const std::string& Database() const { return database_; }
  // What a job is about to write, beside what it has finished: bytes of filters. They count in
  // totals until the tables are written, or the job ends.
  void SetPromised(const std::string& family, JobId job, double filter_bytes);
  void AddPromised(const std::string& family, JobId job, double filter_bytes);

  // Returns what the filters of a job's tables are sized by; nothing if the shape or the family is
  // unknown.
  //   level   of the table, for jobs that fire no begin event
  std::optional<TreeView> View(const std::string& family, JobId job, int level) const;

  struct Total {
    double keys = 0.0;
    double filter_bytes = 0.0;
    double unknown_keys = 0.0;
  };
  // Of the live tables of the families of this policy, inputs of running jobs among them, and of
  // what the jobs have written and promised; zero if the database is closed.
  Total TotalOf(PolicyId policy) const;
  // By family.
  std::map<std::string, Total> TotalsOf(PolicyId policy) const;
  // Of the families of this policy, by RunsOf().
  std::vector<RunsOfSize> RunsOfPolicy(PolicyId policy) const;

  // The live tables of a family.
  Tallies TalliesOf(const std::string& family) const;
  // Running jobs and the tables that they have still to report: what is kept beside the live
  // tables.
  std::size_t PendingEntries() const;

 private:
  struct Family {
    PolicyId policy = kNoPolicy;
    Tallies live;
    RecentJobs recent;
  };
  struct Job {
    JobTallies tallies;
    // By number. A table is in one of the three at most.
    std::unordered_set<std::uint64_t> inputs;
    std::unordered_map<std::uint64_t, TableCount> written;  // not yet live
    std::unordered_set<std::uint64_t> settled;  // inputs and outputs that a later event mentioned
    double promised_bytes = 0.0;                // of filters of tables that are not finished
  };
  struct Table {
    Family* family;
    int level;
    TableCount count;
  };
  using Jobs = std::map<std::pair<std::string, JobId>, Job>;  // a job may flush several families

  Job& Begin(const std::string& family, JobId id);
  Job& FindOrBegin(const std::string& family, JobId id);
  void ForgetOldJobs();
  void SettleLiveOutputs();
  bool Settle(std::uint64_t number);
  static void Count(const Job& ended, const std::vector<LiveTable>& outputs, RecentJobs& recent);
  void TakeInput(Family& family, Job& job, const LiveTable& input);
  void Add(Family& family, const LiveTable& table);
  bool Remove(std::uint64_t number);
  Tally AddedBy(const std::string& family, const Job* except) const;
  Total TotalOf(const std::string& name, const Family& family, const Job* without_promise) const;
  void AddShared(const Family& own, const Job* running, TreeView& view) const;

  const std::string database_;
  mutable std::mutex mutex_;
  std::uint64_t changes_ = 0;
  bool is_loaded_ = false;
  bool is_stale_ = false;
  bool is_closed_ = false;
  std::map<std::string, Family> families_;  // by name
  std::unordered_map<std::uint64_t, Table> tables_;
  JobId last_job_ = 0;
  Jobs jobs_;
};

}  // namespace exactbloom::tree
