// What a builder keeps of the keys added.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "construction_check.h"
#include "exactbloom/bloom_filter.h"
#include "hash_store.h"

namespace exactbloom {

struct BloomFilterBuilder::State {
  filter::HashStore hashes;
  std::unique_ptr<filter::ConstructionCheck> check;  // null: no faults are looked for
  std::uint64_t last_hash = 0;                       // of the entries, where there are any
  std::optional<std::uint64_t> last_alternate_hash;

  void Add(std::uint64_t hash) {
    // Hardly ever equal, so the second comparison is hardly ever made.
    if (hash == last_hash && !hashes.empty()) return;
    hashes.Append(hash);
    last_hash = hash;
    if (check != nullptr) check->Note(hash);
  }

  // Adds the hash and returns true if that takes no memory and nothing has to be decided.
  bool AddAtOnce(std::uint64_t hash) {
    if (hash == last_hash || check != nullptr || !hashes.AppendInPlace(hash)) return false;
    last_hash = hash;
    return true;
  }
};

}  // namespace exactbloom
