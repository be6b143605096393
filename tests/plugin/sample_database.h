// Databases in temporary directories, and the counters that show whether their filters filter.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom {

using PolicyPointer = std::shared_ptr<const rocksdb::FilterPolicy>;

// Removed, with its contents, by the destructor.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path(const std::string& name = "") const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

PolicyPointer NewPolicy(BloomKind kind, double bits_per_key = 10);

// Table options under which filters have the sizes that their policies plan. From 9.2 on, RocksDB's
// defaults fit them to the allocator.
rocksdb::BlockBasedTableOptions PlannedSizes();

// Options of a database that creates itself, counts, and compacts only when told to.
rocksdb::Options OptionsWith(const rocksdb::BlockBasedTableOptions& table_options);
rocksdb::Options OptionsWith(PolicyPointer policy);

// Makes the filters partitioned, for partitions of about this size.
void PartitionFilters(std::uint64_t metadata_block_size,
                      rocksdb::BlockBasedTableOptions* table_options);

// The policy that the options of a table factory hold.
const rocksdb::FilterPolicy* PolicyOf(const rocksdb::ColumnFamilyOptions& options);

// Keys of even numbers are put into databases, keys of odd numbers are asked for and absent, so
// that they lie within the key ranges of the tables. The first kPrefixLength bytes change with
// every hundred.
std::string KeyOf(std::uint64_t number);
inline constexpr std::size_t kPrefixLength = 10;

// The table files in a directory, by name.
std::vector<std::filesystem::path> TableFilesIn(const std::string& directory);

// The filters' counters since the reset, and the reads.
struct FilterCounts {
  std::uint64_t useful = 0;          // "absent"
  std::uint64_t positive = 0;        // "may be contained", of whole keys
  std::uint64_t true_positive = 0;   // and it was contained
  std::uint64_t prefix_checked = 0;  // of prefixes
  std::uint64_t prefix_useful = 0;
  std::uint64_t data_blocks = 0;  // asked for, from the block cache or a file

  std::uint64_t FalsePositives() const { return positive - true_positive; }
};

using Database = std::unique_ptr<rocksdb::DB>;

// Fails the current test if the database cannot be opened; so do the functions below.
Database Open(const rocksdb::Options& options, const std::string& path);

// Puts the keys of `count` even numbers from `first` on, with `value`, and flushes them into a
// table.
void PutAndFlush(rocksdb::DB& db, std::uint64_t count, const std::string& value = "value",
                 std::uint64_t first = 0, rocksdb::ColumnFamilyHandle* family = nullptr);

// Moves each table of level 0 to `level`.
void MoveDown(rocksdb::DB& db, int level);

// Expects the keys of `count` even numbers to be found with `value`.
void ExpectPresent(rocksdb::DB& db, std::uint64_t count, const std::string& value = "value",
                   std::uint64_t first = 0, rocksdb::ColumnFamilyHandle* family = nullptr);

// Asks for the keys of `count` odd numbers from the one after `first` on, expects that none is
// found, and returns the filters' counters.
FilterCounts AskAbsent(rocksdb::DB& db, std::uint64_t count,
                       rocksdb::ColumnFamilyHandle* family = nullptr, std::uint64_t first = 0);

// Asks in batches for the keys of `count` even numbers and the odd ones between them, expects that
// exactly the even ones are found, and returns the filters' counters.
FilterCounts MultiGetAll(rocksdb::DB& db, std::uint64_t count,
                         const rocksdb::ReadOptions& read_options = {});

// Writes each table anew within its level, by CompactFiles, but those that another compaction has.
rocksdb::Status RewriteTables(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family = nullptr);

// Merges all tables of the family into new ones.
rocksdb::Status ForceCompaction(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family = nullptr);

// Reads the counters and sets them to zero.
FilterCounts TakeCounts(rocksdb::DB& db);

// Expects that filters of about ten bits per key answered `checks` questions for absent keys:
// nearly all of them with "absent", and all of them counted.
void ExpectFiltering(const FilterCounts& counts, std::uint64_t checks);

}  // namespace exactbloom
