// A bound for the memory of filters, and of indexes if it covers them, shared by the whole process.
//
//   filter_policy={id=exactbloom;memory_budget=2GiB;budget=stores}
//
// All policies `exactbloom` that name the budget `stores` share it, in whatever column family,
// database, thread or language; those without a name share the one of the empty name. The filters
// of live tables and of tables in the making stay within the bound, and are divided among all
// sorted runs of all these databases so that lookups waste the fewest reads. Filters that were
// there when a database was opened or came by ingestion or import, or when the bound was lowered,
// may exceed it: new tables then get none until compactions have replaced the others, but for the
// smallest runs, whose filters take up to 2% of the bound in spite of it.
//
// Call FollowDatabase (tree_listener.h) after DB::Open; without it a column family counts from its
// first flush or compaction on. The preloaded object calls it.
//
// Of several sizes for one name the last rules: that of the policy made last whose family has
// written a table or is followed, or of SetMemoryBudget(). The info log of each database says so.
#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// The size of a budget, as a number of bytes below 2^53 or as text: `2GiB`, with K, M, G or T, with
// or without B or iB, which are powers of 1024; or `10%` of the memory that the process may use,
// the lower of the limit of its control group and the machine's memory. 0 is no bound. The
// functions and policies that take a size refuse a bad one.
class BudgetSize {
 public:
  BudgetSize() = default;
  // NOLINTBEGIN(google-explicit-constructor): settings.memory_budget = "10%"
  template <typename Bytes, std::enable_if_t<std::is_integral_v<Bytes>, int> = 0>
  BudgetSize(Bytes bytes) : text_(std::to_string(bytes)) {}
  BudgetSize(const char* text) : text_(text) {}
  BudgetSize(std::string text) : text_(std::move(text)) {}
  // NOLINTEND(google-explicit-constructor)

  const std::string& text() const { return text_; }

 private:
  std::string text_ = "0";
};

// What the bound of a budget covers; `filters` and `filters_and_indexes` as the policy's option
// `covers`. With kFiltersAndIndexes the index blocks of live tables count as if all were loaded,
// and filters get what is left; indexes that exceed the bound alone leave the smallest runs their
// 2%. Memory holds less than that where blocks lie in the block cache, files are closed or
// partitions are not pinned. Dictionaries, range deletions and data blocks are not counted.
enum class BudgetCovers { kFilters, kFiltersAndIndexes };

// Sets the bound of a budget. It holds for all filters that are made from now on; those that are
// there change as their tables are rewritten.
//   covers   nothing for what it has covered before; filters at first
// Errors: InvalidArgument for a bad name or size; MemoryLimit.
rocksdb::Status SetMemoryBudget(const std::string& name, const BudgetSize& size,
                                const std::optional<BudgetCovers>& covers = std::nullopt);

// What a budget is used for.
struct MemoryBudgetUse {
  struct Family {
    std::string database;                     // its path
    std::string column_family;                // its name
    std::uint64_t filter_bytes = 0;           // of live tables, and of tables in the making
    std::uint64_t index_bytes = 0;            // of their index blocks, estimated in the making
    std::uint64_t tables_without_filter = 0;  // live ones, whose filters let all keys pass
  };
  std::uint64_t bound_bytes = 0;  // 0: none
  BudgetCovers covers = BudgetCovers::kFilters;
  std::uint64_t used_bytes = 0;   // what the bound covers: of filters, and of indexes if it does
  std::uint64_t index_bytes = 0;  // of all families, covered or not
  std::vector<Family> families;   // those that share it, by database and name
};

// Returns what a budget is used for; zeros for a name that is not in use. used_bytes exceeds
// bound_bytes by filters that were there before, and where indexes are covered by what they take
// beyond the estimates of tables in the making. Throws std::bad_alloc when memory is short.
MemoryBudgetUse GetMemoryBudgetUse(const std::string& name = "");

}  // namespace exactbloom
