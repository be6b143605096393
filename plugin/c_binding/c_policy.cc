#include "c_policy.h"

#include <utility>

#include "c_types.h"
#include "forwarding_policy.h"

namespace exactbloom {
namespace {

// Corresponds to the wrapper that RocksDB's C interface puts around its own policies, and also
// forwards serialization and validation of options.
class CPolicy : public SharedPolicy<rocksdb_filterpolicy_t> {
 public:
  explicit CPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy)
      : SharedPolicy(std::move(policy)) {
    state_ = nullptr;
    destructor_ = [](void* /*state*/) {};
    name_ = nullptr;  // SharedPolicy overrides Name(), its only caller
  }
};

}  // namespace

rocksdb_filterpolicy_t* NewCPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  return new CPolicy(std::move(policy));
}

}  // namespace exactbloom
