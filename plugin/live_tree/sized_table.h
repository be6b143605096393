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

// This thread writes the table; with per-key placement a compaction writes two at once.
struct TableInProgress {
  std::string path;
  std::string family;
  int job = 0;
  std::shared_ptr<Database> database;  // null if it is not known
  bool is_ours = false;                // a policy of ExactBloom was asked for its filter
  bool is_sized = false;               // and that policy follows trees
};

void BeginTableInProgress(TableInProgress table);
// Returns one without a path if this thread did not begin the table.
TableInProgress EndTableInProgress(const std::string& path);
// A policy of ExactBloom is asked for the filter of the table that this thread began last.
void ClaimTableInProgress(const rocksdb::FilterBuildingContext& context);

// A policy wants this of the live tree.
struct SizingOptions {
  DivisionOptions division;
  Budget* budget = nullptr;   // null without one
  std::uint64_t bound = 0;    // bytes that the options give the budget; 0 if they give none
  std::uint64_t made_at = 0;  // Registry::NextMoment()
};

// Notes that the family has a policy with these options. It is called under Registry::Lock().
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

  // Returns whether the budget has room for the filter or partition as it is planned now; then
  // these bytes count. If not, the block has to be one that lets all keys pass.
  bool Take(std::size_t bytes, bool is_ribbon);

 private:
  SizedTable(const SizingOptions& options, const TableInProgress& table,
             const rocksdb::FilterBuildingContext& context);

  // These are called under Registry::Lock().
  //   keys   that the filter or partition has; 0 if that is not known yet
  Share Decide(const Family& family, std::uint64_t keys) const;
  // Returns how many bits per key a partition of `keys` keys gets more, or fewer, because earlier
  // ones have not got what the table should have.
  double Correction(double bits_per_key, std::uint64_t keys) const;
  void Count(Family& family, std::uint64_t bytes, bool is_ribbon);
  // Returns null if the family was dropped or the database closed.
  Family* FindFamily() const;

  const SizingOptions options_;
  const std::shared_ptr<Database> database_;
  const std::string family_;
  const int job_;
  const std::uint64_t number_;
  const int level_;
  const bool is_partitioned_;
  rocksdb::Logger* const info_log_;
  // The partitions before this one have so much.
  std::uint64_t taken_keys_ = 0;
  std::uint64_t taken_bytes_ = 0;
  // This one, or the whole filter, has so much.
  std::uint64_t keys_ = 0;
  std::uint64_t bytes_ = 0;
  bool is_floor_ = false;
};

}  // namespace exactbloom::tree
