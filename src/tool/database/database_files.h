// The tables that a subcommand looks at: those of a database, or single files.
#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/progress.h"

namespace exactbloom::tool {

struct TableLocation {
  std::string path;
  // For a database's tables. A single file tells its column family, but not its level.
  std::uint64_t number = 0;
  int level = -1;
  std::string column_family;
  std::string comparator;  // the name of its keys' order; empty for a file alone
  std::string smallest;    // user key: all keys lie between these two,
  std::string largest;     // both included
  std::uint64_t largest_sequence = 0;
};

struct TableListing {
  std::string database;               // its directory; empty for single files
  std::vector<TableLocation> tables;  // by column family, level and number
};

// Lists the tables of a database, or the files that are named. Reads a database's MANIFEST and
// writes nothing, so the database may be in use.
//   paths  the database's directory, and behind it those of its db_paths and cf_paths, which no
//          file of the database names: a table is in the first of them that has it. Or table files
// Throws support::InputError where there is no database, or its list cannot be read.
TableListing ListTables(const std::vector<std::string>& paths);

// The message of a status on one line, such as "corruption: ...".
std::string Describe(const rocksdb::Status& status);

// Calls `work` for 0 .. count - 1, each once, from `threads` threads, the calling one among them.
// Throws support::Interrupted when the user asked to stop, and what `work` throws; then some items
// are left out.
void ForEach(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

template <typename Result>
struct TableResults {
  std::string database;  // as in the listing
  std::vector<std::pair<TableLocation, Result>> tables;
};

// Reads the tables, `threads` at a time. `Result` has a `rocksdb::Status status`; `read` may be
// called again for the same table. A running database may remove tables before their turn; then the
// tables that replaced them are read, so that the results are those of one state of the database.
// Tables that remain and cannot be read are among the results. Throws as ListTables, and
// support::Interrupted.
template <typename Result, typename Read>
TableResults<Result> ReadTables(const std::vector<std::string>& paths, const std::string& step,
                                const Read& read, int threads = 1) {
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
      gone = gone || results.at(table.path).status.IsPathNotFound();
    }
  }
  TableResults<Result> answer;
  answer.database = listing.database;
  for (const TableLocation& table : listing.tables) {
    answer.tables.emplace_back(table, std::move(results.at(table.path)));
  }
  return answer;
}

}  // namespace exactbloom::tool
