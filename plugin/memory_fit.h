// The sizes of filters with optimize_filters_for_memory.
//
// An allocator hands out memory in size classes, so a block that is read back into memory takes the
// next larger class, and the memory behind its end is lost. Here blocks fill their classes: they
// get either the class above the size that they were meant to have, or the class below. The class
// below has a higher false-positive rate than the target; it is taken only if filters of the class
// above have saved as much before. The balance consists of two sums over all filters, of either
// kind,
//
//   rate / target - 1    and    keys * (rate / target - 1),
//
// which never become positive: the rate, averaged over filters or over keys, is at most the
// target's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "exactbloom/filter.h"

namespace exactbloom {

// Returns how many bytes the allocator would give to a request of `bytes`; `bytes` if the allocator
// cannot tell.
std::size_t MallocUsableBytes(std::size_t bytes);

// May be used by several threads at once; the balance is kept for as long as it lives.
class MemoryFit {
 public:
  using UsableBytes = std::size_t (*)(std::size_t bytes);

  explicit MemoryFit(UsableBytes usable_bytes = MallocUsableBytes) : usable_bytes_(usable_bytes) {}

  // Returns the plan that `builder` should finish instead of `meant`, its own plan.
  FilterPlan Fit(const FilterBuilder& builder, const FilterPlan& meant);

 private:
  std::size_t ClassBelow(std::size_t bytes) const;

  // Adds a filter's rate / target - 1 to the balance, unless that would become positive.
  bool Spend(std::uint64_t keys, double excess);

  const UsableBytes usable_bytes_;
  std::mutex mutex_;
  double of_filters_ = 0.0;
  double of_keys_ = 0.0;
};

}  // namespace exactbloom
