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
// A table is in the making, live or gone, and events take it on in this order only: file numbers
// are not used twice. So events may come late or in any order: what is said of a table that has
// gone on since is passed over, and a listing changes only what has not changed since it began. An
// event that is lost, or that no memory was left for, makes the tree wrong until the next listing,
// after which it has the tables that RocksDB lists and the ones in the making. Gone tables are kept
// as long as a job or a listing that began before they went can still tell of them.
//
// All sums are computed from the tables when they are asked for, in some ten microseconds for a
// thousand of them.
//
// The class knows neither RocksDB nor a lock. Every function may throw std::bad_alloc; what it has
// changed by then is true.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "division.h"

namespace exactbloom::tree {

using JobId = int;
inline constexpr JobId kNoJob = -1;

inline double Real(std::uint64_t count) { return static_cast<double>(count); }

// The properties of a table tell this of its filter.
struct TableFacts {
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
};

// Events name tables with their level, and with their facts if they tell properties.
struct EventFile {
  std::uint64_t number = 0;
  int level = 0;
  std::optional<TableFacts> facts;
};
using EventFiles = std::vector<EventFile>;  // sorted by number

// RocksDB lists these tables at one moment.
struct Listing {
  struct File {
    std::uint64_t number = 0;
    int level = 0;
    std::uint64_t entries = 0;  // 0 if RocksDB has not opened it
    std::uint64_t bytes = 0;
    std::optional<TableFacts> facts;  // nothing if its properties were not read
  };
  std::vector<File> files;  // sorted by number
};

// Adds up tables that have filters.
struct TableSum {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;

  void Add(std::uint64_t more_keys, std::uint64_t bytes);
};

// Sizes in a class differ by less than a tenth.
int SizeClass(double keys);

// The key is a level and a size class. Each table of level 0 is a sorted run, and those of about
// the same size share a class. A deeper level is one run, of class 0.
using RunSums = std::map<std::pair<int, int>, TableSum>;

class Tree {
 public:
  struct Job {
    JobId id = kNoJob;
    bool is_flush = false;
    int output_level = 0;
    std::uint64_t thread = 0;
  };

  // Counts the filters of all tables but the gone ones.
  struct Bytes {
    std::uint64_t all = 0;
    std::uint64_t of_floors = 0;  // that SetFilter was told are floors
  };

  //   first_level   the compaction's first input level; an input that the tree has above it, or
  //                 below the output level, makes the tree stale
  void BeginJob(const Job& job, int first_level, const EventFiles& inputs);
  void StartTable(std::uint64_t number, JobId job);
  //   is_floor   whether it was given in spite of a spent budget
  void SetFilter(std::uint64_t number, std::uint64_t bytes, bool is_ribbon, bool is_floor);
  // A table that no known job writes makes the tree stale.
  void FinishTable(std::uint64_t number, JobId job, const TableFacts& facts);
  // A job that is not known makes the tree stale, and so do outputs without facts.
  void EndJob(JobId job, const EventFiles& inputs, const EventFiles& outputs);
  void CancelJob(JobId job);
  // The deletion of a live table makes the tree stale, since no job has told of it.
  void Drop(std::uint64_t number);
  // A listing is taken from now on; one at a time is.
  void BeginListing();
  // Does nothing without BeginListing().
  //   bits_per_key   is assumed of filters whose bytes nothing tells
  void Replace(const Listing& listing, double bits_per_key);
  // Takes over the properties that were read of listed tables, also after Replace.
  void Learn(const Listing& listing, double bits_per_key);
  // Assumes it of such filters that were listed before.
  void Assume(double bits_per_key);

  // Returns whether a listing is wanted.
  bool IsStale() const { return is_stale_; }
  bool IsBeingListed() const { return listing_began_.has_value(); }
  bool IsRunning(JobId job) const { return FindJob(job) != nullptr; }
  // Returns whether the table is live, and its properties were read.
  bool IsExact(std::uint64_t number) const;

  // The number changes with the live tables only.
  std::uint64_t LiveChange() const { return live_change_; }
  RunSums Runs() const;
  Bytes FilterBytes() const;
  // Counts live tables with keys whose filters let every key pass, or that have none.
  std::uint64_t TablesWithoutFilter() const;

  // Returns the family as it will be when the job has ended.
  //   level  of the table that asks, which stands for a job that is not known
  //   keys   that this table has, or is expected to have; 0 if nobody knows
  TreeView For(JobId job, int level, std::uint64_t keys, const DivisionOptions& options) const;
  // Returns the mean keys of recent flushes, or else of the tables of level 0; 0 if there are none.
  std::uint64_t FlushKeys() const;

  // Adds up tables of a run, or of runs of level 0 of about the same size, whose filters are alike
  // in bits per key and in kind.
  struct ListedTables {
    int level = 0;
    int size_class = 0;
    std::optional<bool> ribbon;  // nothing if the kind is not known
    TableSum sum;                // counts those without filters, too
  };
  // Returns all live tables, by level and size class.
  std::vector<ListedTables> ListAll() const;

 private:
  enum class State : std::uint8_t { kMaking, kLive, kGone };
  struct Table {
    std::uint64_t number = 0;
    std::uint64_t keys = 0;
    std::uint64_t filter_bytes = 0;
    std::uint64_t changed = 0;  // by change_
    int level = 0;
    JobId writer = kNoJob;
    JobId reader = kNoJob;  // the compaction that began last with it as an input
    State state = State::kMaking;
    bool is_exact = false;    // its keys and bytes come from its properties
    bool is_sampled = false;  // or from those of other tables of its level
    bool is_floor = false;
    std::optional<bool> ribbon;

    void Learn(const std::optional<TableFacts>& facts);
  };
  struct RunningJob : Job {
    std::uint64_t began = 0;  // by change_
  };

  const RunningJob* FindJob(JobId job) const;
  const Table* Find(std::uint64_t number) const;
  Table* Find(std::uint64_t number) {
    return const_cast<Table*>(std::as_const(*this).Find(number));
  }
  Table& FindOrAdd(std::uint64_t number);
  void NoteChange(Table& table);
  Table* Install(const EventFile& file);
  void InstallOutput(const EventFile& output, const TableSum& read, std::uint64_t outputs);
  void Discard(Table& table);
  template <typename Files, typename Function>
  void ForEachKnown(const Files& files, Function function);
  TableSum SumLive(const EventFiles& files, int deepest = std::numeric_limits<int>::max());
  void LearnWritten(bool is_flush, const TableSum& read, const EventFiles& outputs);
  void ForgetLostJobs(std::uint64_t thread, JobId job);
  void ForgetGone();
  void Estimate(const Listing& listing, double bits_per_key);

  std::vector<Table> tables_;  // sorted by number
  std::vector<RunningJob> jobs_;
  std::uint64_t change_ = 0;  // the number of changes
  std::uint64_t live_change_ = 1;
  std::optional<std::uint64_t> listing_began_;  // by change_
  bool is_stale_ = true;
  std::uint64_t flush_keys_ = 0;
  // The part of level 0 that moves down without being rewritten, as ascending keys do. Each
  // compaction of level 0 counts as much in it as all before.
  double moved_part_ = 0.0;
  // The part of their inputs' keys that compactions write, such a mean by output level. It is small
  // where inputs have versions of the same keys.
  std::map<int, double> kept_part_;
};

}  // namespace exactbloom::tree
