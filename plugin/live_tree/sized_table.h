// The filter of a table in the making, sized by its live tree.
//
// RocksDB fires OnTableFileCreationStarted in the thread that writes the table, right before it
// asks the filter policy for a builder. So policy and listener need not know each other.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "exactbloom/rocksdb_namespace.h"
#include "registry.h"

namespace exactbloom::tree {

// A table that this thread writes; with per-key placement a compaction writes two at once.
struct TableInProgress {
  std::string path;
  std::string family;
  int job = 0;
  std::shared_ptr<Database> database;  // null: not known
  bool is_ours = false;                // a policy of ExactBloom was asked for its filter
  bool is_sized = false;               // and follows trees
};

void BeginTableInProgress(TableInProgress table);
// Returns one without a path if this thread did not begin the table.
TableInProgress EndTableInProgress(const std::string& path);
// A policy of ExactBloom is asked for the filter of the table that this thread began last.
void ClaimTableInProgress(const rocksdb::FilterBuildingContext& context);

// What a policy wants of the live tree.
struct SizingOptions {
  DivisionOptions division;
  Budget* budget = nullptr;   // null: none
  std::uint64_t bound = 0;    // that the options give the budget, in bytes; 0: none
  std::uint64_t made_at = 0;  // Registry::NextMoment()
};

// The family's tables are those of a policy with these options. Under Registry::Lock().
void SetPolicy(const SizingOptions& options, Family& family);

class SizedTable {
 public:
  // Returns the table that this thread began last, or null if its tree is not known. Throws
  // std::bad_alloc.
  static std::unique_ptr<SizedTable> Begin(const SizingOptions& options,
                                           const rocksdb::FilterBuildingContext& context);

  // Returns what partitions will get, as far as it is known before their keys are. Throws
  // std::bad_alloc.
  double ExpectedBitsPerKey() const;

  // Returns what the table's filter, or its next partition, of so many keys gets, and counts its
  // bytes in the same step. Logs what the level gets whenever that changes by more than a tenth.
  // Throws std::bad_alloc.
  double BitsPerKey(std::uint64_t keys);

  // Whether the budget has room for the filter or partition as it is planned now; then these bytes
  // count. If not, the block has to be one that lets all keys pass.
  bool Take(std::size_t bytes, bool is_ribbon);

 private:
  SizedTable(const SizingOptions& options, const TableInProgress& table,
             const rocksdb::FilterBuildingContext& context);

  // Under Registry::Lock():
  //   keys   of the filter or partition; 0: not known yet
  Share Decide(const Family& family, std::uint64_t keys) const;
  // How many bits per key a partition of `keys` keys gets more, or fewer, because earlier ones have
  // not got what the table should have.
  double Correction(double bits_per_key, std::uint64_t keys) const;
  void Count(Family& family, std::uint64_t bytes, bool is_ribbon);
  Family* FindFamily() const;  // null if it was dropped or the database closed

  const SizingOptions options_;
  const std::shared_ptr<Database> database_;
  const std::string family_;
  const int job_;
  const std::uint64_t number_;
  const int level_;
  const bool is_partitioned_;
  rocksdb::Logger* const info_log_;
  // Of the partitions before this one.
  std::uint64_t taken_keys_ = 0;
  std::uint64_t taken_bytes_ = 0;
  // Of this one, or of the whole filter.
  std::uint64_t keys_ = 0;
  std::uint64_t bytes_ = 0;
  bool is_floor_ = false;
};

}  // namespace exactbloom::tree
