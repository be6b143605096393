#include "c_policy.h"

#include <utility>

#include "c_types.h"
#include "forwarding_policy.h"

namespace exactbloom {
namespace {

// What RocksDB's C layer makes around its own policies, with the functions that it leaves out:
// options stand in OPTIONS files, and bad ones are refused.
class CPolicy : public SharedPolicy<rocksdb_filterpolicy_t> {
 public:
  explicit CPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy)
      : SharedPolicy(std::move(policy)) {
    state_ = nullptr;
    destructor_ = [](void* /*state*/) {};
    name_ = nullptr;  // only the Name that SharedPolicy replaces calls it
  }
};

}  // namespace

rocksdb_filterpolicy_t* NewCPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  return new CPolicy(std::move(policy));
}

}  // namespace exactbloom
