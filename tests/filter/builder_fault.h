// Faults of memory, as the tests inject them into a builder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exactbloom/bloom_filter.h"
#include "filter/hash_store.h"

namespace exactbloom::filter {

struct BuilderFault {
  // The store stays where it is when the builder is moved.
  static HashStore& HashesOf(BloomFilterBuilder& builder) { return *builder.hashes_; }

  // Returns the hash of that number, in the order of adding, where it is kept.
  static std::uint64_t& HashIn(HashStore& hashes, std::uint64_t number) {
    std::uint64_t* found = nullptr;
    hashes.ForEach([&](std::uint64_t* chunk, std::size_t count) {
      if (found == nullptr && number < count) found = chunk + number;
      number -= count;
    });
    return *found;
  }
};

}  // namespace exactbloom::filter
