// Gives the tables of a database the filters that its current policy would build.
//
// A change of policy changes no existing table: tables keep their filters until compaction rewrites
// them. RebuildFilters rewrites them now, and only where needed: it reads the filter of each table
// (table_filters.h), asks the column family's policy what it would build, and compacts the tables
// that differ, one by one, each within its own level. No other state is kept, so the work may be
// stopped, killed and started again, in portions of any size. Reads, writes and automatic
// compactions may continue meanwhile.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// What a call has found and done so far. Bytes are those of table files.
struct RebuildResult {
  std::uint64_t tables = 0;  // examined
  std::uint64_t bytes = 0;
  std::uint64_t lacking_tables = 0;  // found without the wanted filter
  std::uint64_t lacking_bytes = 0;

  // Lacking tables are in the end either rewritten, gone or remaining.
  std::uint64_t rewritten_tables = 0;
  std::uint64_t rewritten_bytes = 0;
  // Other tables that had to be compacted with them, see below.
  std::uint64_t along_tables = 0;
  std::uint64_t along_bytes = 0;
  std::uint64_t written_bytes = 0;  // for both

  std::uint64_t still_lacking_tables = 0;  // written without the wanted filter, see below

  // Lacking tables that another compaction removed before their turn, and those that still lack the
  // filter at the end of the call.
  std::uint64_t gone_tables = 0;
  std::uint64_t gone_bytes = 0;
  std::uint64_t remaining_tables = 0;
  std::uint64_t remaining_bytes = 0;

  // Remaining tables that were in another compaction at each attempt, and those that alone exceed
  // max_bytes.
  std::uint64_t busy_tables = 0;
  std::uint64_t too_large_tables = 0;

  // Files that cannot be read or have wrong checksums. They are not rewritten.
  std::vector<std::string> damaged_files;

  // Files that a database opened read-only lists, but that no longer exist: the process that writes
  // the database has compacted them since.
  std::vector<std::string> vanished_files;
};

// Which tables are rewritten. Each scope includes the ones before it.
enum class RebuildScope : std::uint8_t {
  kOtherFilter,  // tables that lack their filter, see RebuildFilters
  // Tables whose filter is of the right kind, but differs in memory per key by more than 5%: after
  // a change of bits_per_key, or of the tree that a policy divides memory for. With exactbloom,
  // unless size_ratio is set, a table should have, and a rewritten one gets, what a division among
  // the present sorted runs gives it: a second call rewrites nothing. With
  // optimize_filters_for_memory, which rounds sizes to those of the allocator: by more than 25%.
  // Tables whose properties do not have the number of the filter's keys are left out.
  kOtherSize,
  kAll,  // every table that has keys; each call starts from the first table
};

struct RebuildOptions {
  // The column families to examine; empty: the default one.
  std::vector<rocksdb::ColumnFamilyHandle*> column_families;

  // Limits of a call, which starts no compaction that would exceed them. 0: no limit.
  std::uint64_t max_bytes = 0;
  std::uint64_t max_tables = 0;

  // After each table the call sleeps until the rewritten bytes are within this rate; 0: never.
  // Within a table the database's own rate limiter applies. Reading filters is not limited.
  std::uint64_t bytes_per_second = 0;

  // Rewrites nothing, and only counts lacking_tables and lacking_bytes. The database may be open
  // read-only.
  bool dry_run = false;

  RebuildScope scope = RebuildScope::kOtherFilter;

  // Reads each table and verifies its checksums before rewriting it. A table without checksums is
  // decoded instead, unless it has merge operands or timestamps. If this is off, a damaged block
  // makes the compaction fail, after which RocksDB refuses writes.
  bool verify_checksums = true;

  // When it becomes true, the call returns after the current table.
  const std::atomic<bool>* cancel = nullptr;

  // Called after each examined table and after each compaction.
  std::function<void(const RebuildResult&)> progress;
};

// Rewrites the tables that lack the filter that their column family's policy would build for them.
//
// A table lacks the filter if its filter is of another family (table_filters.h) or, for
// ExactBloom's, of another kind or number of lines; the size matters with kOtherSize only. A table
// for which the policy builds none, or whose keys do not go into filters, lacks nothing. If the
// family of the policy's blocks is unknown, nothing is rewritten. DB::CompactFiles rewrites a table
// within its level, so compaction filters apply, and obsolete entries are dropped. Tables of its
// level whose key ranges touch its own are compacted with it, as in every compaction; these are
// few, unless one range deletion spans many tables.
//
// The policy builds a sample filter for the level, with up to 2,048 keys, or 65,536 where sizes
// are compared. If it builds another kind for the real table, that table is in
// still_lacking_tables, and every call rewrites it.
//
// Returns OK when all tables are done, or a limit or `cancel` was reached: see remaining_tables.
// Errors: NotSupported if a column family has no block-based tables or the database is open
// read-only; otherwise those of CompactFiles, such as Incomplete while manual compactions are
// disabled or CompactionTooLarge without space; the message of a Corruption begins with the tables.
// Tables rewritten before an error stay rewritten, and `result` is always set.
rocksdb::Status RebuildFilters(rocksdb::DB& db, const RebuildOptions& options,
                               RebuildResult* result);

}  // namespace exactbloom
