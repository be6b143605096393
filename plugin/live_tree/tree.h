// The sorted runs of one column family, as facts: what is known of each table and of each job.
//
// RocksDB tells of them by events, from the threads that run its jobs:
//
//   BeginJob      a flush begins, or a compaction of these inputs
//   StartTable    the job begins a table                    -> in the making
//   SetFilter     its filter is made, and has these bytes
//   FinishTable   it is written: its keys and bytes are exact
//   EndJob        outputs -> live, inputs -> gone; one that is both was moved to another level
//   CancelJob     what the job has written -> gone
//   Drop          the file is deleted -> gone
//   Replace       a listing of RocksDB's: those listed -> live, others that were live -> gone
//
// A table is in the making, live or gone, and goes on in this order only: file numbers are not used
// twice. So events may come late or in any order: what is said of a table that has gone on since
// is passed over, and a listing changes only what has not changed since it began. A compaction's
// inputs are live whatever was known of them. An event that is lost, or that no memory was left
// for, makes the tree wrong until the next listing, after which it has the tables that RocksDB
// lists and the ones in the making.
//
// All sums are computed from the tables when they are asked for, in some ten microseconds for a
// thousand of them.
//
// The class knows neither RocksDB nor a lock. Every function may throw std::bad_alloc; what it has
// changed by then is true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "division.h"

namespace exactbloom::tree {

using JobId = int;
inline constexpr JobId kNoJob = -1;

inline double Real(std::uint64_t count) { return static_cast<double>(count); }

// Of the filter of a table.
struct TableFacts {
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
};

// A table in an event.
struct EventFile {
  std::uint64_t number = 0;
  int level = 0;
  std::optional<TableFacts> facts;
};

// What RocksDB lists at one moment.
struct Listing {
  struct File {
    std::uint64_t number = 0;
    int level = 0;
    std::uint64_t entries = 0;  // 0: RocksDB has not opened it
    std::uint64_t bytes = 0;
    std::optional<TableFacts> facts;  // by the table's properties, if they were read
  };
  std::vector<File> files;
};

// Of tables that have filters.
struct TableSum {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;

  void Add(std::uint64_t more_keys, std::uint64_t bytes);
};

// Sizes in a class differ by less than a tenth.
int SizeClass(double keys);

// By level and size class. Each table of level 0 is a sorted run: those of about the same size
// share a class. A deeper level is one run, of class 0.
using RunSums = std::map<std::pair<int, int>, TableSum>;

// The runs, those of about the same size together.
std::vector<analysis::EqualRuns> ListRuns(const RunSums& sums, bool ribbon);

class Tree {
 public:
  struct Job {
    JobId id = kNoJob;
    bool is_flush = false;
    int output_level = 0;
    std::uint64_t thread = 0;
  };

  // The bytes of filters of tables that are not gone.
  struct Bytes {
    std::uint64_t all = 0;
    std::uint64_t of_floors = 0;  // as SetFilter has it
  };

  //   first_level   above which no input of a compaction was; those that were known elsewhere make
  //                 the tree stale
  void BeginJob(const Job& job, int first_level, const std::vector<EventFile>& inputs);
  void StartTable(std::uint64_t number, JobId job);
  //   is_floor   it was given in spite of a budget that was spent
  void SetFilter(std::uint64_t number, std::uint64_t bytes, bool is_ribbon, bool is_floor);
  // A table that no known job writes makes the tree stale.
  void FinishTable(std::uint64_t number, JobId job, const TableFacts& facts);
  // So does a job that is not known.
  void EndJob(JobId job, const std::vector<EventFile>& inputs,
              const std::vector<EventFile>& outputs);
  void CancelJob(JobId job);
  // That of a live table, of which no job has told, makes the tree stale.
  void Drop(std::uint64_t number);
  // A listing is taken from now on. One at a time.
  void BeginListing();
  // Without BeginListing() it does nothing.
  //   bits_per_key   of filters whose bytes nothing tells
  void Replace(Listing listing, double bits_per_key);
  // The properties of some of the listed tables were read, if need be after Replace.
  void Learn(const Listing& listing, double bits_per_key);

  // Whether a listing is wanted.
  bool IsStale() const { return is_stale_; }
  bool IsBeingListed() const { return listing_began_.has_value(); }
  bool IsRunning(JobId job) const { return Find(job) != nullptr; }
  bool IsExact(std::uint64_t number) const;

  // Changes with the live tables only.
  std::uint64_t LiveChange() const { return live_change_; }
  //   without   tables, by number, sorted
  RunSums Runs(const std::vector<std::uint64_t>& without = {}) const;
  Bytes FilterBytes() const;
  // Live tables that have keys, and filters that let them all pass, or none.
  std::uint64_t TablesWithoutFilter() const;

  // The family as it will be when the job has ended.
  //   level  of the table that asks, for a job that is not known
  //   keys   of that table, or expected of it; 0: not known
  TreeView For(JobId job, int level, std::uint64_t keys, bool ribbon) const;
  // Of filters of flushes: the mean of recent ones, or else of the tables of level 0; 0: not known.
  std::uint64_t FlushKeys() const;

  // Tables of a run, or of runs of level 0 of about the same size, whose filters are alike: in
  // their bits per key, and in their kind.
  struct ListedTables {
    int level = 0;
    int size_class = 0;
    std::optional<bool> ribbon;  // nothing: not known
    TableSum sum;                // those without filters are listed, too
  };
  // By level and size class.
  std::vector<ListedTables> ListAll() const;

 private:
  struct Table {
    std::uint64_t number = 0;
    std::uint64_t keys = 0;
    std::uint64_t filter_bytes = 0;
    std::uint64_t changed = 0;
    int level = 0;
    JobId writer = kNoJob;
    bool is_exact = false;    // keys and bytes
    bool is_sampled = false;  // or estimated from tables of its level whose properties were read
    bool is_floor = false;
    std::optional<bool> ribbon;

    void Learn(const std::optional<TableFacts>& facts);
  };
  struct RunningJob : Job {
    std::uint64_t began = 0;            // change
    std::vector<std::uint64_t> inputs;  // sorted
  };

  const RunningJob* Find(JobId job) const;
  RunningJob* Find(JobId job) { return const_cast<RunningJob*>(std::as_const(*this).Find(job)); }
  const Table* FindLive(std::uint64_t number) const;
  Table* FindLive(std::uint64_t number) {
    return const_cast<Table*>(std::as_const(*this).FindLive(number));
  }
  Table* FindMaking(std::uint64_t number);
  void Install(const EventFile& file);
  void Discard(std::uint64_t number);
  void DiscardLive(const std::vector<std::uint64_t>& numbers);
  void ForgetLostJobs(std::uint64_t thread, JobId job);
  void ForgetGone();
  std::vector<std::uint64_t> InputsDownTo(int level) const;
  void Estimate(const Listing& listing, double bits_per_key);

  std::vector<Table> making_;
  std::vector<Table> live_;                                // by number
  std::unordered_map<std::uint64_t, std::uint64_t> gone_;  // when, by number
  std::vector<RunningJob> jobs_;
  std::uint64_t change_ = 0;
  std::uint64_t live_change_ = 1;
  std::optional<std::uint64_t> listing_began_;
  std::size_t most_gone_ = 0;
  bool is_stale_ = true;
  std::uint64_t flush_keys_ = 0;
  // The part of level 0 that moves down without being rewritten, as ascending keys do: a mean in
  // which each compaction of level 0 counts as much as all before it.
  double moved_part_ = 0.0;
  // By output level: the part of their inputs' keys that compactions write, such a mean, too. It is
  // small where inputs have versions of the same keys.
  std::map<int, double> kept_part_;
};

}  // namespace exactbloom::tree
