// What a database's info log, or a dump of its statistics, tells of its filters at work.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>

namespace exactbloom::tool {

// RocksDB's counters, of all column families since the statistics were made.
struct FilterCounters {
  std::uint64_t lookups = 0;         // keys that were asked for
  std::uint64_t useful = 0;          // filters that answered "absent"
  std::uint64_t positives = 0;       // and "may be contained"
  std::uint64_t true_positives = 0;  // and it was
  // Filter blocks in the block cache; zero where filters are kept outside of it.
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;

  std::uint64_t FalsePositives() const;
  std::uint64_t AbsentChecks() const { return useful + FalsePositives(); }
};

struct LogFindings {
  std::optional<FilterCounters> counters;  // those that were written last
  // Bytes that the block cache holds, by column family, as written when the database was opened.
  std::map<std::string, std::uint64_t> block_caches;
};

// Reads an info log, or the text of rocksdb::Statistics::ToString(). Takes any text.
LogFindings ReadLog(std::istream& text);

// Reads the file LOG of a database; finds nothing where there is none.
LogFindings ReadDatabaseLog(const std::string& database);

}  // namespace exactbloom::tool
