// What a builder keeps of the keys added. Internal, and the only header of src/filter that plugin/
// includes: there the hashing of short keys is inlined into RocksDB's call for each key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "construction_check.h"
#include "exactbloom/filter.h"
#include "hash_store.h"
#include "kernels/key_hash.h"

namespace exactbloom::filter {

class BuilderState {
 public:
  BuilderState(std::uint64_t hash_seed, bool detects_faults) : hash_seed_(hash_seed) {
    if (!detects_faults) return;
    hashes_ = HashStore(Consumed::kKept);
    check_ = std::make_unique<ConstructionCheck>();
  }

  // FilterBuilder::AddKey.
  __attribute__((flatten)) void AddKey(std::string_view key) {
    Add(HashMostlyShortKey(key, hash_seed_));
  }

  // The same if that takes neither memory nor a decision; returns whether the key was added.
  __attribute__((flatten)) bool AddShortKey(std::string_view key) {
    return key.size() <= kShortKeyBytes && AddInPlace(HashKey(key, hash_seed_));
  }

  // FilterBuilder::AddKeyAndAlternate.
  __attribute__((flatten)) void AddKeyAndAlternate(std::string_view key,
                                                   std::string_view alternate) {
    const std::optional<std::uint64_t> previous = last_alternate_hash_;
    last_alternate_hash_ = HashMostlyShortKey(alternate, hash_seed_);
    if (last_alternate_hash_ != previous) Add(*last_alternate_hash_);
    const std::uint64_t hash = HashMostlyShortKey(key, hash_seed_);
    if (hash != previous) Add(hash);
  }

  // The hashes of the keys added.
  HashStore& Hashes() { return hashes_; }

  // Null unless faults are detected.
  ConstructionCheck* Check() { return check_.get(); }

  // The next entry has no alternate before it.
  void ForgetAlternate() { last_alternate_hash_.reset(); }

  void Clear() {
    ForgetAlternate();
    hashes_.Clear();
    if (check_ != nullptr) check_->Clear();
  }

 private:
  void Add(std::uint64_t hash) {
    // Hardly ever equal, so the second comparison is hardly ever made.
    if (hash == last_hash_ && !hashes_.empty()) return;
    hashes_.Append(hash);
    last_hash_ = hash;
    if (check_ != nullptr) check_->Note(hash);
  }

  bool AddInPlace(std::uint64_t hash) {
    if (hash == last_hash_ || check_ != nullptr || !hashes_.AppendInPlace(hash)) return false;
    last_hash_ = hash;
    return true;
  }

  HashStore hashes_;
  std::unique_ptr<ConstructionCheck> check_;
  std::uint64_t hash_seed_;
  std::uint64_t last_hash_ = 0;  // of the entries, where there are any
  std::optional<std::uint64_t> last_alternate_hash_;
};

// Hands out the state of a builder. Moving the builder does not move it.
struct BuilderAccess {
  static BuilderState& StateOf(FilterBuilder& builder) { return *builder.state_; }
};

}  // namespace exactbloom::filter
