// The tables of a database, and the sorted runs of its column families.
//
// A table is in the making or live; the others are not known. RocksDB tells of them by events, from
// the threads that run its jobs, and they may come late or in any order:
//
//   BeginJob      a flush begins, or a compaction of these inputs
//   StartTable    a job begins a table                         -> in the making
//   Reserve       its filter will take so many bytes
//   FinishTable   it is written: its keys and bytes are exact
//   EndJob        outputs -> live; inputs -> erased; one that is both moves to another level
//   CancelJob     what the job has written -> not known
//   Drop          the file is deleted                          -> erased
//   TakeOver      a listing of RocksDB's: those listed -> live, other live ones -> not known
//
// File numbers are not used twice, so nothing installs an erased one again, however late it comes.
// An event that does not fit makes the tables stale: a listing is wanted, which changes only what
// no event has changed since it began. Meanwhile events apply, and sizing goes on.
//
// - CompactFiles fires no job events. What it reads is what a listing marks as being compacted and
//   no known job reads. What it finishes is live at once, unconfirmed: it survives the listings
//   that mark something, until it is listed or deleted, and keeps the tables stale.
// - An ingested table has no level until a listing places it, or does not have it.
// - Only flushes end without an event: failed ones, or those that closing overtook. Their tables
//   stay in the making until a listing decides, since another thread may have committed them.
// - The end of a flush may be told before another thread commits it, so a listing may lack its
//   table, and a job may fail after it has committed: what is known of removed tables is kept for
//   the next listing.
//
// The tables of a tree are summed up by what a division asks for, so its cost does not depend on
// their number, and what a job leaves is a sum and not a difference.
//
// The classes know neither RocksDB nor a lock. Every function may throw std::bad_alloc; what it has
// changed by then is true.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "division.h"

namespace exactbloom::tree {

using JobId = int;
inline constexpr JobId kNoJob = -1;
inline constexpr int kUnplaced = -1;  // the level of a table that nothing tells it of

inline double Real(std::uint64_t count) { return static_cast<double>(count); }

// What tells the facts of a table. kAssumed knows entries, and not the filter.
enum class Source : std::uint8_t { kNothing, kAssumed, kSampled, kProperties };

struct TableFacts {
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;  // in memory
  std::uint64_t index_bytes = 0;
  std::uint64_t beside_bytes = 0;  // of filter_bytes, what is no array: trailers, partitions' index
  Source source = Source::kProperties;
};

struct TableSum {
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t filter_bits = 0;  // as the division counts: of arrays, without rounding
  std::uint64_t floor_bytes = 0;  // of filter_bytes, given in spite of a spent budget
  std::uint64_t tables = 0;
  std::uint64_t without_filter = 0;  // live tables with keys whose filters let every key pass

  void Add(const TableSum& more, bool subtracts = false);
};

// As an event or a listing names a table; with its facts, if an event tells properties.
struct NamedFile {
  std::uint64_t number = 0;
  int level = 0;
  std::optional<TableFacts> facts;

  bool operator<(const NamedFile& other) const { return number < other.number; }
};
using NamedFiles = std::vector<NamedFile>;  // sorted by number

class Tree;

// Tables of one place are alike for all that is asked of a tree. Each table of level 0 is a sorted
// run, and those of about the same size share a class. A deeper level is one run, of class 0.
struct Place {
  bool is_live = false;
  bool is_written = false;  // its keys are known
  int level = kUnplaced;
  int size_class = 0;
  int bits_class = 0;  // of filters alike in bits per key; below 0: lookups ask none
  bool ribbon = false;
  JobId job = kNoJob;  // which reads a live table, or writes one in the making

  auto Key() const {
    return std::tie(is_live, is_written, level, size_class, bits_class, ribbon, job);
  }
  bool operator<(const Place& other) const { return Key() < other.Key(); }
};

struct Table {
  Tree* tree = nullptr;
  Place place;
  TableFacts facts = {0, 0, 0, 0, Source::kNothing};
  TableSum sum;           // of this one
  bool is_sized = false;  // so its filter's bits and kind are known
  bool is_unconfirmed = false;
  std::uint64_t moment =
      0;  // of the last listing that has begun when an event changed it, or had it

  void Learn(const TableFacts& more);
  void Settle();  // sum and place, once something of it has changed
};

// All tables of a database by number, since the event of a deletion does not name the family.
class Tables {
 public:
  void Drop(std::uint64_t number);
  // The filter of a table in the making takes so many bits and bytes, in place of what it took. It
  // counts from the decision on, until the table is written. Nothing if it is not in the making.
  void Reserve(std::uint64_t number, const TableSum& amount, bool is_ribbon);

  // A listing is taken from now on; one at a time is.
  void BeginListing();
  void TakeOver(const NamedFile& file, Tree& tree, bool is_being_compacted);
  // Removes tables that the listing does not have, once all that it has are taken over: `count` of
  // them at most are looked at, from `number` on. Returns where to go on, or nothing at the end.
  std::optional<std::uint64_t> Sweep(std::uint64_t number, std::size_t count);
  // Forgets the tables of a tree, which is not used again.
  void Forget(Tree& tree);

  void MarkStale() { is_stale_ = true; }
  bool IsStale() const { return is_stale_; }
  const Table* Find(std::uint64_t number) const;

 private:
  friend class Tree;
  using Iterator = std::map<std::uint64_t, Table>::iterator;

  template <typename Function>
  void Change(std::uint64_t number, Tree& tree, Function change);
  void Subtract(const Table& table);
  Iterator Remove(Iterator table);
  void Erase(std::uint64_t number);

  std::map<std::uint64_t, Table> tables_;
  std::map<std::uint64_t, TableFacts> removed_;  // of the 1,024 largest numbers
  std::set<std::uint64_t> erased_;               // the 16,384 largest numbers
  std::uint64_t moment_ = 0;                     // the listings that have begun
  std::atomic<bool> is_stale_ = true;            // which any thread may set
};

// The tables of a column family, by runs and jobs.
class Tree {
 public:
  struct Job {
    JobId id = kNoJob;
    bool is_flush = false;
    int output_level = 0;
    std::uint64_t thread = 0;
  };

  explicit Tree(Tables& tables) : tables_(tables) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  //   first_level   the compaction's first input level; an input above it, or below the output
  //                 level, makes the tables stale
  void BeginJob(const Job& job, int first_level, const NamedFiles& inputs);
  //   level   kUnplaced if it is not known
  void StartTable(std::uint64_t number, JobId job, int level = kUnplaced);
  //   job   kNoJob for an ingested table
  void FinishTable(std::uint64_t number, JobId job, const TableFacts& facts);
  void EndJob(JobId job, const NamedFiles& inputs, const NamedFiles& outputs);
  void CancelJob(JobId job) { ForgetJob(job, /*keeps=*/false); }
  // What the family's policy builds is assumed of filters that nothing tells of.
  void SetOptions(const DivisionOptions& options);

  const DivisionOptions& Options() const { return options_; }
  bool IsForgotten() const { return is_forgotten_; }
  bool IsRunning(JobId job) const { return FindJob(job) != nullptr; }
  // Of those that have begun here, or begun a table; 0 if none has.
  JobId NewestJob() const { return newest_job_; }
  // Sums up all tables, those in the making among them.
  const TableSum& All() const { return all_; }

  // Returns the family as it will be when the job has ended.
  //   level  of the table that asks, which stands for a job that is not known
  //   keys   that this table has, or is expected to have; 0 if nobody knows
  TreeView For(JobId job, int level, std::uint64_t keys) const;
  // Returns the mean keys of recent flushes, or else of the tables of level 0; 0 if there are none.
  std::uint64_t FlushKeys() const;
  // Returns all live tables that have a level, by place; of any job.
  std::vector<std::pair<Place, TableSum>> ListAll() const;
  // Returns the runs that lookups ask, those of level 0 of about the same size together.
  std::vector<analysis::EqualRuns> Runs() const;

 private:
  friend class Tables;

  struct RunningJob : Job {
    std::vector<std::uint64_t> started;  // tables
  };

  const RunningJob* FindJob(JobId job) const;
  void Install(const NamedFile& file, std::optional<int> input_level = {});
  TableSum SumLive(const NamedFiles& files, int deepest = 1'000) const;
  void LearnWritten(bool is_flush, const TableSum& read, const NamedFiles& outputs);
  void ForgetJob(JobId job, bool keeps);
  bool HasUntoldJob() const;
  bool RewritesTables() const;

  Tables& tables_;
  std::map<Place, TableSum> sums_;
  TableSum all_;
  std::vector<RunningJob> jobs_;
  std::array<JobId, 16> ended_ = {};  // the last ones; RocksDB numbers jobs from 1 on
  std::size_t ended_count_ = 0;
  bool is_forgotten_ = false;
  DivisionOptions options_;
  std::uint64_t flush_keys_ = 0;
  // The part of level 0 that moves down without being rewritten, as ascending keys do. Each
  // compaction of level 0 counts as much in it as all before; nothing until there was one.
  std::optional<double> moved_part_;
  // The part of their inputs' keys that compactions write, such a mean by output level. It is small
  // where inputs have versions of the same keys.
  std::map<int, double> kept_part_;
  JobId newest_job_ = 0;
};

}  // namespace exactbloom::tree
