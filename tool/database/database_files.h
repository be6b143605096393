// The tables that a subcommand reads: those of a database, or single files.
#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/model/sorted_runs.h"
#include "support/progress.h"

namespace exactbloom::tool {

// A single file has no level and no keys, but its column family.
struct TableLocation : model::Table {
  std::string path;
  std::string column_family;
  std::string comparator;  // by name; empty for a single file
};

struct TableListing {
  std::string database;               // its directory; empty for single files
  std::vector<TableLocation> tables;  // by column family, level and number
};

// Returns the order of a comparator of RocksDB, or null for one of another program.
model::KeyOrder OrderOf(const std::string& comparator);

// Lists the tables of a database, or the files that are named. Reads a database's MANIFEST and
// writes nothing, so the database may be in use.
//   paths  table files; or the database's directory, followed by those of its db_paths and
//          cf_paths, which no file of the database names: the first that has a table's file counts
// Throws support::InputError if there is no database, or its MANIFEST cannot be read.
TableListing ListTables(const std::vector<std::string>& paths);

// Returns, for a database without tables, where its data are, as a sentence: in its log, if that
// has any bytes.
std::string WhyNoTables(const std::string& database);

// The message of a status on one line, such as "corruption: ...".
std::string Describe(const rocksdb::Status& status);

// Calls `work` once for each of 0 .. count - 1, in `threads` threads, one of them the caller's.
// Throws what `work` throws.
void ForEach(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

template <typename Result>
struct TableResults {
  std::string database;  // as in the listing
  std::vector<std::pair<TableLocation, Result>> tables;
};

// Reads the tables, `threads` at a time. `Result` has a `rocksdb::Status status`. If a running
// database removes tables before their turn, the tables that replaced them are read, so the results
// are of one state of the database. They include tables that cannot be read. Throws as ListTables.
template <typename Result, typename Read>
TableResults<Result> ReadTables(const std::vector<std::string>& paths, const std::string& step,
                                const Read& read, int threads = 1) {
  constexpr int kRounds = 50;  // each reads only what replaced tables of the one before
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
