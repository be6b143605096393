// The instruction sets to test.
#pragma once

#include <vector>

#include "src/filter/kernels/kernel_table.h"

namespace exactbloom::filter {

#if defined(__x86_64__)
template <bool kGathers>
const Kernel& Avx512Draws(const FilterDescription& filter) {
  return Avx512DrawKernel(filter, kGathers);
}
#endif

// The sets of this processor, the best one first, with both variants of a set that has two. A
// variant has no `is_available`, and differs from its set only for lines = 0.
inline std::vector<InstructionSet> TestedSets() {
  std::vector<InstructionSet> sets = AvailableInstructionSets();
#if defined(__x86_64__)
  if (sets.front().name == "avx512") {
    sets.push_back({"avx512_loads", nullptr, Avx512Draws<false>, Avx512HashKeys});
    sets.push_back({"avx512_gathers", nullptr, Avx512Draws<true>, Avx512HashKeys});
  }
#endif
  return sets;
}

}  // namespace exactbloom::filter
