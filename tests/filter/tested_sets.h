// The instruction sets to test.
#pragma once

#include <vector>

#include "filter/kernels/kernel.h"

namespace exactbloom::filter {

// The sets of this processor, the best one first, with both variants of a set that has two. A
// variant has no `is_available`, and differs from its set only for lines = 0.
std::vector<InstructionSet> TestedSets();

}  // namespace exactbloom::filter
