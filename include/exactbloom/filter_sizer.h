// Sizing for builders: thousands of filters, one after another, of few different numbers of keys,
// as the partitions of tables have.
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

// Remembers answers. May be used by several threads at once, which do not wait for each other's
// evaluations of the rate. Keep one for as long as filters are built.
class FilterSizer {
 public:
  explicit FilterSizer(Layout layout) : layout_(layout) {}

  // Returns the same as exactbloom::OptimalProbes.
  int OptimalProbes(std::uint64_t bits, std::uint64_t keys);

  // Returns the same as exactbloom::SmallestFilter. Throws std::bad_alloc when memory is short.
  std::optional<FilterSize> SmallestFilter(std::uint64_t keys, double target);

 private:
  struct KnownProbes {
    std::uint64_t bits = 0;
    std::uint64_t keys = 0;
    int probes = 0;
  };

  static constexpr std::size_t kKnownProbes = 1024;

  const Layout layout_;
  std::mutex mutex_;
  std::array<KnownProbes, kKnownProbes> probes_;  // each number of keys has one place
  std::map<std::pair<double, std::uint64_t>, FilterSize> sizes_;  // by target and keys
};

}  // namespace exactbloom
