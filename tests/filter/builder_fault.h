// Injects memory faults into a builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "filter/hash_store.h"

namespace exactbloom::filter {

struct BuilderFault {
  // The store stays where it is when the builder is moved.
  static HashStore& HashesOf(BloomFilterBuilder& builder) { return *builder.hashes_; }

  // Returns a reference to the hash of that number, in the order of adding.
  static std::uint64_t& HashIn(HashStore& hashes, std::uint64_t number) {
    std::vector<std::uint64_t*> places;
    hashes.ForEach([&](std::uint64_t* chunk, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) places.push_back(chunk + i);
    });
    return *places.at(number);
  }
};

}  // namespace exactbloom::filter
