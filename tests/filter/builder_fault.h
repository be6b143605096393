// Injects memory faults into a builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/filter/builder_state.h"
#include "src/filter/hash_store.h"

namespace exactbloom::filter {

// Returns a reference to the hash of that number, in the order of adding.
inline std::uint64_t& HashIn(HashStore& hashes, std::uint64_t number) {
  std::vector<std::uint64_t*> places;
  hashes.ForEach([&](std::uint64_t* chunk, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) places.push_back(chunk + i);
  });
  return *places.at(number);
}

}  // namespace exactbloom::filter
