// The processor time of building the filters of a tree, without the rest of loading it.
#pragma once

#include <rocksdb/filter_policy.h>

#include "readamp/keys/key_set.h"
#include "readamp/tree/table_list.h"

namespace exactbloom::sweep {

// Builds the filters of all tables in memory, as RocksDB told the policy when it compacted them to
// their levels. Returns nanoseconds per key, the least of `repetitions`; 0 without a policy.
double FilterBuildNanoseconds(const rocksdb::FilterPolicy* policy, const readamp::TableList& tables,
                              const readamp::KeySet& keys, int repetitions);

}  // namespace exactbloom::sweep
