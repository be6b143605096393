// A bound for the memory of filters, shared by the whole process.
//
//   filter_policy={id=exactbloom;memory_budget=2GiB;budget=stores}
//
// All policies `exactbloom` that name the budget `stores` share it, in whatever column family,
// database, thread or language; those without a name share the one of the empty name. The sum of
// the filters' bytes, of live tables and of tables in the making, stays within the bound, and is
// divided among all sorted runs of all these databases so that lookups waste the fewest reads.
// Tables that are there when a database is opened, or when the bound is lowered, may exceed it: new
// tables then get one bit per key at most, until compactions or a rebuild have replaced the others.
//
// Of several sizes for one name the last that is set rules: by opening a database, by SetOptions(),
// or by SetMemoryBudget(). The info log of each database says so.
#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// Sets the bound of a budget. It holds for all filters that are made from now on; those that are
// there change as their tables are rewritten.
//   size   as the option: `2GiB`, `1000000`, or `10%` of the memory that the process may use (the
//          limit of its control group, or the machine's memory); `0` for no bound
// Errors: InvalidArgument for a bad name or size; MemoryLimit.
rocksdb::Status SetMemoryBudget(const std::string& name, const std::string& size);

struct MemoryBudgetUse {
  struct Family {
    std::string database;  // its path
    std::string column_family;
    std::uint64_t filter_bytes = 0;  // of live tables, and of tables in the making
    std::uint64_t unknown_keys = 0;  // beside: in tables whose filters were not looked at yet
  };
  std::uint64_t bound = 0;  // bytes; 0: none
  std::uint64_t used = 0;   // the sum of filter_bytes
  // Those that share it. After an opening, until its first tables show their policies, all column
  // families of the database.
  std::vector<Family> families;
};

// Returns what a budget is used for. `used` exceeds `bound` only by filters that were there before.
// Throws std::bad_alloc when memory is short.
MemoryBudgetUse GetMemoryBudgetUse(const std::string& name = "");

}  // namespace exactbloom
