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
#include "open_databases.h"

namespace exactbloom::tree {

// A table that this thread writes; with per-key placement a compaction writes two at once.
struct TableInProgress {
  std::string path;
  std::string family;
  int job = 0;
  std::shared_ptr<OpenDatabase> database;  // null: not known
  bool is_ours = false;                    // a policy of ExactBloom was asked for its filter
  bool is_sized = false;                   // and follows trees
};

void BeginTableInProgress(TableInProgress table);
// Returns one without a path if this thread did not begin the table.
TableInProgress EndTableInProgress(const std::string& path);
// A policy of ExactBloom is asked for the filter of the table that this thread began last.
void ClaimTableInProgress(const rocksdb::FilterBuildingContext& context);

// What a policy wants of the live tree.
struct SizingOptions {
  DivisionOptions division;
  FilterBudget* budget = nullptr;  // null: none
  std::uint64_t bound = 0;         // that the options give the budget, in bytes; 0: none
  std::uint64_t made_at = 0;       // FilterBudget::Now()
};

// The family's tables are those of a policy with these options. Under OpenDatabases::Lock().
void SetPolicy(const SizingOptions& options, Family& family);

class SizedTable {
 public:
  // Returns the table that this thread began last, or null if its tree is not known. Logs, in the
  // context's info log, what its level gets whenever that changes by more than a tenth. Throws
  // std::bad_alloc.
  static std::unique_ptr<SizedTable> Begin(const SizingOptions& options,
                                           const rocksdb::FilterBuildingContext& context);

  // As far as it is known before the keys are.
  double bits_per_key() const { return bits_per_key_; }
  bool ribbon() const { return ribbon_; }
  bool has_budget() const { return options_.budget != nullptr; }
  // Of a filter that has so many keys; a partition's are not the table's, and change nothing.
  // Throws std::bad_alloc.
  double BitsPerKey(std::uint64_t keys);

  // Whether the budget has room for a filter, or one more partition, of so many bytes, which then
  // count. If not, the block has to be one that lets all keys pass.
  bool Take(std::size_t bytes);

 private:
  SizedTable(const SizingOptions& options, const TableInProgress& table, int level,
             bool is_partitioned);

  Share Decide(std::uint64_t keys) const;
  void Reserve();

  const SizingOptions options_;
  const std::shared_ptr<OpenDatabase> database_;
  const std::string family_;
  const int job_;
  const std::uint64_t number_;
  const int level_;
  const bool is_partitioned_;
  double bits_per_key_ = 0.0;
  bool ribbon_ = false;
  std::uint64_t taken_ = 0;     // bytes of finished blocks
  std::uint64_t reserved_ = 0;  // bytes that count in the budget
};

}  // namespace exactbloom::tree
