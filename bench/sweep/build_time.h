// The processor time of building the filters of a tree, without the rest of loading it.
#pragma once

#include <rocksdb/filter_policy.h>

#include <string>
#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp/tree/table_list.h"

namespace exactbloom::sweep {

// The keys of each sorted run, in order.
using KeysOfRuns = std::vector<std::vector<std::string>>;

KeysOfRuns SortedKeys(const readamp::KeySet& keys, const readamp::TableList& tables);

// Builds the filters of all tables in memory, as RocksDB told the policy when it compacted them to
// their levels. Returns nanoseconds per key; 0 without a policy.
//   runs   the SortedKeys of a tree with the same sorted runs
double FilterBuildNanoseconds(const rocksdb::FilterPolicy* policy, const readamp::TableList& tables,
                              const KeysOfRuns& runs);

}  // namespace exactbloom::sweep
