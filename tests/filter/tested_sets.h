// The instruction sets to test.
#pragma once

#include <vector>

#include "filter/kernels/kernel.h"

namespace exactbloom::filter {

// The sets of this processor, the best one first, and of what a set has two kinds, both. A kind
// has no `is_available`, and differs from its set in layouts with lines = 0 only.
std::vector<InstructionSet> TestedSets();

}  // namespace exactbloom::filter
