// Gives the tables of a database the filters that its current policy would build.
//
// A change of policy changes no existing table: tables keep their filters until compaction rewrites
// them. RebuildFilters does this now, and only where needed: it reads which table carries which
// filter (table_filters.h), asks the column family's policy what it would build for each, and
// compacts those that differ, one by one, each within its own level. The tables themselves show
// what remains to be done, so the work may be stopped, killed and started again, in portions of any
// size: it continues with the tables that still lack their filter. Reads and writes continue
// meanwhile, and so may automatic compactions.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace exactbloom {

// What a call has found and done so far. Bytes are those of table files.
struct RebuildResult {
  std::uint64_t tables = 0;  // looked at
  std::uint64_t bytes = 0;
  std::uint64_t lacking_tables = 0;  // those found without the wanted filter
  std::uint64_t lacking_bytes = 0;

  // Of the lacking tables. With those that are gone or remain, these are all.
  std::uint64_t rewritten_tables = 0;
  std::uint64_t rewritten_bytes = 0;
  // Others that had to be compacted with them, see below.
  std::uint64_t along_tables = 0;
  std::uint64_t along_bytes = 0;
  std::uint64_t written_bytes = 0;  // for both

  std::uint64_t still_lacking_tables = 0;  // written without the wanted filter: see below

  // Lacking tables that another compaction removed before their turn, and those that still lack the
  // filter at the end of the call.
  std::uint64_t gone_tables = 0;
  std::uint64_t gone_bytes = 0;
  std::uint64_t remaining_tables = 0;
  std::uint64_t remaining_bytes = 0;

  // Remaining tables that another compaction held whenever they were tried, and those that exceed
  // max_bytes on their own.
  std::uint64_t busy_tables = 0;
  std::uint64_t too_large_tables = 0;

  // Files that cannot be read, or whose checksums are wrong. They are left as they are.
  std::vector<std::string> damaged_files;

  // Files that were not there to be looked at, although the database, opened read-only, lists them:
  // its own process has compacted them away since then.
  std::vector<std::string> vanished_files;
};

// Which tables are rewritten. Of each, those that the ones before it rewrite, too.
enum class RebuildScope : std::uint8_t {
  kOtherFilter,  // tables that lack their filter, see RebuildFilters
  // Those with a filter of the right kind that takes other memory per key, by more than 5%: after a
  // change of bits_per_key, or of the tree that a policy divides memory for. With
  // optimize_filters_for_memory, which rounds sizes to those of the allocator, by more than 25%. A
  // table that does not say how many keys its filter has is not one of them.
  kOtherSize,
  kAll,  // every table that has keys. Each call begins with the first table again
};

struct RebuildOptions {
  // Whose tables to look at; the default column family if there are none.
  std::vector<rocksdb::ColumnFamilyHandle*> column_families;

  // Limits of a call: it starts no rewriting that would exceed them. 0: no limit.
  std::uint64_t max_bytes = 0;
  std::uint64_t max_tables = 0;

  // After each table the call sleeps until the bytes rewritten keep to this rate; 0: it never
  // sleeps. Within a table the database's own rate limiter applies, if it has one; the filters of
  // all tables are read without a limit.
  std::uint64_t bytes_per_second = 0;

  // Rewrites nothing: what would be rewritten is in lacking_tables and lacking_bytes. The database
  // may be open read-only.
  bool dry_run = false;

  RebuildScope scope = RebuildScope::kOtherFilter;

  // Reads a table through and compares all its checksums before it is rewritten; a table written
  // without checksums is decoded instead, unless it has merge operands or timestamps. Without this,
  // a damaged block makes the compaction fail, and RocksDB then refuses writes.
  bool verify_checksums = true;

  // Once it is true, the call returns after the current table.
  const std::atomic<bool>* cancel = nullptr;

  // Called after each table that was looked at and after each rewriting.
  std::function<void(const RebuildResult&)> progress;
};

// Rewrites the tables that lack the filter that their column family's policy would build for them.
//
// A table lacks the filter if its filter is of another family (table_filters.h) or, for
// ExactBloom's, of another kind or number of lines; the size matters with kOtherSize only. A table
// for which the policy builds none, or whose keys do not go into filters, lacks nothing. If the
// policy's blocks are of no known family, nothing is done. A table is rewritten within its level,
// by DB::CompactFiles, so compaction filters apply, and obsolete entries are dropped. Tables of its
// level whose key ranges touch its own are compacted with it, as in every compaction; these are
// few, unless one range deletion spans many tables.
//
// The policy is asked with the level, and with up to a few thousand keys. If a policy builds
// something else for the real table, that table is in still_lacking_tables, and every call rewrites
// it.
//
// Returns OK when all was done, or a limit or `cancel` was reached: see remaining_tables. Errors:
// NotSupported if a column family has no block-based tables or the database is open read-only;
// otherwise those of CompactFiles, such as Incomplete while manual compactions are disabled or
// CompactionTooLarge without space; the message of a Corruption begins with the tables. Tables
// rewritten before an error stay rewritten, and `result` is always filled in.
rocksdb::Status RebuildFilters(rocksdb::DB& db, const RebuildOptions& options,
                               RebuildResult* result);

}  // namespace exactbloom
