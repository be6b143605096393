// A filter policy in the type of RocksDB's C interface.
#pragma once

#include <rocksdb/c.h>
#include <rocksdb/filter_policy.h>

#include <memory>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// Returns a new policy that forwards to `policy`; rocksdb_filterpolicy_destroy deletes it. Throws
// std::bad_alloc.
rocksdb_filterpolicy_t* NewCPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy);

}  // namespace exactbloom
