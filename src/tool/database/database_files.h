// The tables that a subcommand looks at: those of a database, or single files.
#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "parallel.h"
#include "support/progress.h"

namespace exactbloom::tool {

struct TableLocation {
  std::string path;
  std::uint64_t number = 0;  // of a database's tables
  // Of a database's tables. A file alone knows its family, but not its level.
  int level = -1;
  std::string column_family;
};

struct TableListing {
  std::string database;                         // its directory; empty for single files
  std::map<std::string, std::string> families;  // of a database: their comparators' names
  std::vector<TableLocation> tables;            // by family, level and number
};

// Lists the tables of the database in a directory, or the files that are named. Reads a database's
// MANIFEST and writes nothing, so the database may be in use.
// Throws support::InputError where there is no database, or its list cannot be read.
TableListing ListTables(const std::vector<std::string>& paths);

// "corruption: ..." and so on: what a status says, for one line.
std::string Describe(const rocksdb::Status& status);

template <typename Result>
struct TableResults {
  std::string database;  // as in the listing
  std::vector<std::pair<TableLocation, Result>> tables;
};

// Reads the tables, `threads` at a time. `Result` has a `rocksdb::Status status`, and keeps nothing
// that `read` may not do again. A running database may remove tables before their turn; then what
// replaced them is read, so that the results are those of one state of the database. Tables that
// remain and cannot be read are among the results. Throws as ListTables, and support::Interrupted.
template <typename Result>
TableResults<Result> ReadTables(const std::vector<std::string>& paths, const std::string& step,
                                const std::function<Result(const TableLocation&)>& read,
                                int threads = 1);

// Whether a status may be that of a table that the database has removed.
inline bool MayBeGone(const rocksdb::Status& status) { return status.IsPathNotFound(); }

template <typename Result>
TableResults<Result> ReadTables(const std::vector<std::string>& paths, const std::string& step,
                                const std::function<Result(const TableLocation&)>& read,
                                int threads) {
  constexpr int kRounds = 5;
  support::Progress progress;
  std::map<std::string, Result> results;  // by path
  TableListing listing;
  bool gone = true;
  for (int round = 0; gone && round < kRounds; ++round) {
    listing = ListTables(paths);
    gone = false;
    std::vector<std::pair<const TableLocation*, Result*>> unread;
    for (const TableLocation& table : listing.tables) {
      const auto [place, is_new] = results.try_emplace(table.path);
      if (is_new) unread.emplace_back(&table, &place->second);
    }
    progress.Begin(step, unread.size());
    ForEach(unread.size(), threads, [&](std::size_t i) {
      *unread[i].second = read(*unread[i].first);
      progress.Add(1);
    });
    for (const TableLocation& table : listing.tables) {
      if (MayBeGone(results.at(table.path).status)) gone = true;
    }
  }
  progress.End();
  TableResults<Result> answer;
  answer.database = listing.database;
  for (const TableLocation& table : listing.tables) {
    answer.tables.emplace_back(table, std::move(results.at(table.path)));
  }
  return answer;
}

}  // namespace exactbloom::tool
