// Sizing for builders: thousands of filters of slightly different numbers of keys, one after
// another.
//
// k* cannot fall when bits are added and cannot rise when keys are added. So if two filters, one of
// many bits and few keys and the other of few bits and many keys, have the same k*, then every
// filter between them has it too. A sizer remembers such boxes; within one, an answer costs a few
// comparisons and is still the exact optimum. docs/analysis.md has the measurement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "exactbloom/layout.h"
#include "exactbloom/sizing.h"

namespace exactbloom {

// May be used by several threads at once, which do not wait for each other's evaluations of the
// rate. Keep one for as long as filters are built.
class FilterSizer {
 public:
  explicit FilterSizer(Layout layout) : layout_(layout) {}

  // Returns the same as exactbloom::OptimalProbes.
  int OptimalProbes(std::uint64_t bits, std::uint64_t keys);

  // Returns the same as exactbloom::SmallestFilter. Answers are remembered, and a new one is found
  // from its neighbours with a few evaluations of the exact rate. Throws std::bad_alloc when memory
  // is short.
  std::optional<FilterSize> SmallestFilter(std::uint64_t keys, double target);

 private:
  struct Box {
    std::uint64_t least_bits = 1;
    std::uint64_t most_bits = 0;
    std::uint64_t least_keys = 1;
    std::uint64_t most_keys = 0;
    int probes = 0;

    bool Contains(std::uint64_t bits, std::uint64_t keys) const {
      return least_bits <= bits && bits <= most_bits && least_keys <= keys && keys <= most_keys;
    }
  };

  static constexpr std::size_t kBoxes = 64;

  using Sizes = std::map<std::pair<double, std::uint64_t>, FilterSize>;  // by target and keys

  // With the mutex.
  std::optional<int> FindProbes(std::uint64_t bits, std::uint64_t keys);
  double GuessBits(std::uint64_t keys, double target) const;

  Box BoxAround(std::uint64_t bits, std::uint64_t keys) const;

  const Layout layout_;
  std::mutex mutex_;
  std::array<Box, kBoxes> boxes_;
  std::size_t next_box_ = 0;
  std::size_t last_box_ = 0;
  Sizes sizes_;
};

}  // namespace exactbloom
