// The filter of a table in the making, sized by its live tree.
//
// RocksDB fires OnTableFileCreationStarted in the thread that writes the table, right before it
// asks the filter policy for a builder. So policy and listener need not know each other.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
  static constexpr double kUntold = std::numeric_limits<double>::infinity();

  // Returns the table that this thread began last, or null if its tree is not known. Throws
  // std::bad_alloc.
  static std::unique_ptr<SizedTable> Begin(const SizingOptions& options,
                                           const rocksdb::FilterBuildingContext& context);
  // Gives back what no finished filter takes: RocksDB destroys the builder before it tells of the
  // table.
  ~SizedTable();

  // Returns what partitions, or the filter of a compaction's table, will get, as far as it is known
  // before their keys are. Throws std::bad_alloc.
  double ExpectedBitsPerKey();

  // Returns the bits per key of the array of the table's filter, or its next partition, of so many
  // keys, and counts them in the same step; 0 if it gets none. Logs what the level gets whenever
  // that changes by more than a tenth. Throws std::bad_alloc.
  //   at_most   for the filter of a compaction's table, whose space RocksDB was told
  double BitsPerKey(std::uint64_t keys, double at_most = kUntold);

  // Returns whether the budget has room for the filter or partition as it is planned; then the
  // bytes of its block count. If not, the block has to be one that lets all keys pass. Throws
  // std::bad_alloc.
  bool Take(std::size_t bytes, bool is_ribbon);

 private:
  SizedTable(const SizingOptions& options, const TableInProgress& table,
             const rocksdb::FilterBuildingContext& context);

  using News = std::vector<std::pair<rocksdb::InfoLogLevel, std::string>>;

  // These are called under both locks.
  const Budget* Bounding() const;  // null if no budget bounds the family
  void Plan(std::uint64_t keys);
  void Limit(std::uint64_t keys, Share& share);
  void Count(const TableSum& amount);
  News Tell(const Share& share);

  const SizingOptions options_;
  const std::shared_ptr<Database> database_;  // null while it is opened
  std::shared_ptr<Family> family_;            // null if it is not known
  const int job_;
  const std::uint64_t number_;
  const int level_;
  const bool is_partitioned_;
  const bool is_fifo_;
  rocksdb::Logger* const info_log_;
  TreeView view_;
  std::optional<Share> share_;      // that the division gives a table of view_.keys_to_write
  std::uint64_t taken_keys_ = 0;    // of the partitions before this one
  TableSum taken_;                  // what they take
  std::uint64_t keys_ = 0;          // of this one, or of the whole filter
  TableSum amount_;                 // what it takes
  std::uint64_t planned_bits_ = 0;  // of the last filter that BitsPerKey planned
  bool is_ribbon_;
  bool is_kept_ = true;  // nothing counts that no finished filter takes
};

}  // namespace exactbloom::tree
