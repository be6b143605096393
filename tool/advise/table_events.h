// The live tables of a database, by the events in its info logs.
//
// RocksDB logs an event with the table's properties for each table that it writes, one for each
// that it deletes, and for each compaction its inputs and its output level; a line for each table
// that it moves. These come whether or not the job succeeds, which other lines tell. After a flush
// or a compaction follow the numbers of tables of each level, and every ten minutes a table of
// compaction statistics has these with their bytes. Tables that were written before the first log,
// or whose events are lost, are known by those numbers only.
// Source: RocksDB 7.8 to 11.8, db/event_helpers.cc, db/internal_stats.cc and the jobs in db/.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sst/table_filters.h"

namespace exactbloom::tool {

struct LoggedTable {
  std::string column_family;
  int level = 0;
  int job = 0;
  bool is_installed = true;  // not yet, while the compaction that writes it runs
  TableFilter filter;        // as its properties tell it, of a family that is not known yet
};

// The tables of a level that no event tells of.
struct UnknownTables {
  std::uint64_t tables = 0;
  double bytes_of_one = 0.0;  // 0: not known
};

class TableEvents {
 public:
  // A line of all logs, in the order of their times.
  void Read(const std::string& line);

  // By number; those that are installed when the log ends.
  std::map<std::uint64_t, LoggedTable> Tables() const;

  // By column family and level.
  const std::map<std::string, std::map<int, UnknownTables>>& Unknown() const { return unknown_; }

  // The tables that were there when the database was opened, and that neither an event nor a number
  // of a level has told of since.
  std::uint64_t Unlisted() const;

 private:
  struct Job {
    std::string column_family;
    bool is_of_several = false;  // column families: an atomic flush
    std::vector<std::uint64_t> inputs;
    bool compacts = false;
  };
  // What a thread has logged of a job, until the line or the event that ends it.
  struct Thread {
    bool compaction_failed = false;
    std::map<std::uint64_t, int> moved_from;  // levels of tables
  };
  struct LevelSize {
    std::uint64_t tables = 0;
    double bytes = 0.0;
  };

  void ReadEvent(const nlohmann::json& event, const std::string& thread);
  void AddTable(const nlohmann::json& event);
  void FinishCompaction(const nlohmann::json& event, bool failed);
  void NameJob(const std::string& line);
  void ReadFlush(const std::string& flush);
  void MoveTable(const std::string& move, const std::string& thread);
  void FinishMoves(const std::string& moves, const std::string& thread);
  void ReadStatistics(const std::string& line);
  void ForgetJobs();
  void Drop(const std::string& family);
  void FollowUntoldMoves(const std::string& family, const std::map<int, LevelSize>& levels);
  void CountUnknown(const std::string& family, const std::map<int, LevelSize>& levels,
                    bool has_bytes);

  std::map<std::uint64_t, LoggedTable> tables_;
  std::map<std::uint64_t, std::string> family_of_id_;
  std::map<int, Job> jobs_;  // since the last opening
  std::map<std::string, Thread> threads_;
  std::map<std::string, std::map<int, UnknownTables>> unknown_;
  std::uint64_t at_opening_ = 0;  // files of tables,
  std::uint64_t unlisted_ = 0;    // and those of them of which there was no event
  // The table of statistics that is being read.
  std::string listed_family_;
  bool is_listing_ = false;
  std::map<int, LevelSize> listed_;
};

}  // namespace exactbloom::tool
