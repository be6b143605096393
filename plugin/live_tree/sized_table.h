// The filter of a table in the making, sized by its live tree.
//
// RocksDB fires OnTableFileCreationStarted in the thread that writes the table, right before it
// asks the filter policy for a builder. So policy and listener need not know each other.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

class SizedTable {
 public:
  // Returns the table that this thread began last, or null if its tree is not known. One that is
  // written while its database is opened needs none. Throws std::bad_alloc.
  static std::unique_ptr<SizedTable> Begin(const SizingOptions& options,
                                           const rocksdb::FilterBuildingContext& context);
  ~SizedTable();

  // Returns what partitions will get, as far as it is known before their keys are. Throws
  // std::bad_alloc.
  double ExpectedBitsPerKey() const;

  // Returns the bits per key of the array of the table's filter, or its next partition, of so many
  // keys, and counts them in the same step; 0 if it gets none. Logs what the level gets whenever
  // that changes by more than a tenth. Throws std::bad_alloc.
  double BitsPerKey(std::uint64_t keys);

  // Returns whether the budget has room for the filter or partition as it is planned; then the
  // bytes of its block count. If not, the block has to be one that lets all keys pass. Throws
  // std::bad_alloc.
  bool Take(std::size_t bytes, bool is_ribbon);

 private:
  SizedTable(const SizingOptions& options, const TableInProgress& table,
             const rocksdb::FilterBuildingContext& context);

  // What is known when a decision begins.
  struct View {
    TreeView tree;
    std::vector<analysis::EqualRuns> beside;
    std::optional<double> budget;  // bytes that it has for filters
  };

  //   keys   that the filter or partition has; 0 if that is not known yet
  std::optional<View> Look(std::uint64_t keys) const;
  // What is logged once the locks are free.
  struct News {
    bool tells_share = false;
    bool tells_bound = false;
    bool tells_spent = false;
    std::uint64_t bound = 0;
    std::uint64_t held = 0;
    std::size_t families = 0;
  };
  // Limits the share to what the budget leaves, and reserves it, in one step.
  News Reserve(const View& view, std::uint64_t keys, Share& share);
  void Log(const Share& share, const News& news) const;
  void Count(bool is_ribbon);  // under both locks

  const SizingOptions options_;
  const std::shared_ptr<Database> database_;  // null while it is opened
  std::shared_ptr<Family> family_;            // null if it is not known, or dropped
  const int job_;
  const std::uint64_t number_;
  const int level_;
  const bool is_partitioned_;
  const bool is_fifo_;
  rocksdb::Logger* const info_log_;
  std::optional<Reservation> reservation_;
  std::uint64_t taken_keys_ = 0;  // by the partitions before this one
  TableSum taken_;
  std::uint64_t keys_ = 0;  // of this one, or of the whole filter
  TableSum amount_;
};

}  // namespace exactbloom::tree
