// A filter policy as RocksDB's C interface takes it.
#pragma once

#include <rocksdb/c.h>
#include <rocksdb/filter_policy.h>

#include <memory>

namespace exactbloom {

// Returns a new one that hands everything on to `policy`; rocksdb_filterpolicy_destroy deletes it.
// Throws std::bad_alloc.
rocksdb_filterpolicy_t* NewCPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy);

}  // namespace exactbloom
