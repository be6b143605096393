// The table reads that filters save and waste, as RocksDB counts them, to stand beside the ones
// that GetSortedRuns (tree_listener.h) predicts.
//
// A Statistics object counts for all databases that have it, and knows neither families nor levels:
//
//   const exactbloom::MeasuredReads reads = exactbloom::MeasureReads(*options.statistics);
//   std::cout << reads.WastedPer1000() << " in 1,000 lookups of absent keys\n";
//
// RocksDB's perf context counts by level what one thread reads, and so what it reads of one family:
//
//   rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);  // a few nanoseconds per read
//   rocksdb::get_perf_context()->EnablePerLevelPerfContext();
//   rocksdb::get_perf_context()->Reset();
//   ...  // lookups in this thread
//   for (const exactbloom::MeasuredLevel& level : exactbloom::MeasureLevels()) {
//     std::cout << level.level << ": " << level.answers.FalsePositiveRate() << '\n';
//   }
//
// A table without a filter is not counted.
#pragma once

#include <rocksdb/perf_context.h>
#include <rocksdb/statistics.h>

#include <cstdint>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// What the filters of tables answered.
struct FilterAnswers {
  std::uint64_t denied = 0;  // the table was not read
  std::uint64_t passed = 0;  // the table was read
  std::uint64_t found = 0;   // of these: it held what was sought

  std::uint64_t FalsePositives() const { return passed > found ? passed - found : 0; }

  // Returns the share of false positives in the answers for what a table did not hold; NaN if there
  // are no such answers. SortedRuns::FalsePositiveRate() predicts it.
  double FalsePositiveRate() const;
};

// What RocksDB counted in a Statistics object.
struct MeasuredReads {
  // Of Get and MultiGet. Before RocksDB 8.3 also of Get with whole_key_filtering=false.
  FilterAnswers keys;
  // Of Get and MultiGet with whole_key_filtering=false, from RocksDB 8.3 on. Another key of the
  // same prefix is a false positive.
  FilterAnswers prefixes;
  // Of iterators that seek by a prefix; `found` are those of which a value was read. Before RocksDB
  // 8.3 `found` is 0, so that only seeks of absent prefixes give a rate, and MultiGet with
  // whole_key_filtering=false is counted here.
  FilterAnswers seeks;
  std::uint64_t lookups = 0;  // keys that Get and MultiGet were asked for
  // Of these: a table had their value, or a memtable their value or deletion. A key of which tables
  // hold only merge operands is not counted. MultiGet counts them before the lookups.
  std::uint64_t found = 0;

  // Returns the lookups that were not found.
  std::uint64_t Absent() const { return lookups > found ? lookups - found : 0; }

  // Returns how many table reads false positives have wasted in 1,000 lookups of absent keys, by
  // Get and MultiGet; NaN without such lookups. Those that lookups of present keys wasted are among
  // them. The wasted_per_1000 of the family's runs predict it: it is lower if lookups ask not all
  // runs.
  double WastedPer1000() const;

  // Returns what was counted after `before`, an earlier result for the same object.
  MeasuredReads Since(const MeasuredReads& before) const;
};

// Returns what was counted since the object was made, or reset. An object that is older than the
// database, or has been given to several, takes one more call when the database is opened, and
// Since(). Without tickers (StatsLevel::kExceptTickers) all counts are 0. Throws std::bad_alloc.
MeasuredReads MeasureReads(const rocksdb::Statistics& statistics);

// What RocksDB's perf context counted of the tables of a level.
struct MeasuredLevel {
  int level = 0;
  FilterAnswers answers;  // to Get and MultiGet; of prefixes by MultiGet from RocksDB 8.3 on
};

// Returns what a perf context has counted since it was reset, in the order of levels; nothing if
// EnablePerLevelPerfContext() was not called. Throws std::bad_alloc.
//   context   that of the calling thread, or a copy of another one's
std::vector<MeasuredLevel> MeasureLevels(
    const rocksdb::PerfContext& context = *rocksdb::get_perf_context());

}  // namespace exactbloom
