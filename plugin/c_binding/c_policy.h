// A filter policy in the type of RocksDB's C interface.
#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <utility>

#include "c_types.h"
#include "exactbloom/rocksdb_namespace.h"
#include "forwarding_policy.h"

namespace exactbloom {

// Forwards to `policy`; rocksdb_filterpolicy_destroy deletes it. Corresponds to the wrapper that
// RocksDB's C interface puts around its own policies, and also forwards serialization and
// validation of options.
class CPolicy : public SharedPolicy<rocksdb_filterpolicy_t> {
 public:
  explicit CPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy)
      : SharedPolicy(std::move(policy)) {
    state_ = nullptr;
    destructor_ = [](void* /*state*/) {};
    name_ = nullptr;  // SharedPolicy overrides Name(), its only caller
  }
};

}  // namespace exactbloom
