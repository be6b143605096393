// Which instruction sets there are, and the one in use.
#pragma once

#include <string_view>
#include <vector>

#include "kernel.h"

namespace exactbloom::filter {

// The environment variable that forces an instruction set by its name, read once. A name that is
// unknown, or of a set that the processor or the operating system lacks, is ignored:
// exactbloom::KernelName() tells what is in use.
inline constexpr const char* kKernelVariable = "EXACTBLOOM_KERNEL";

// The instruction sets that this machine has, the best one first; scalar is the last.
std::vector<InstructionSet> AvailableInstructionSets();

// Returns the set of that name, or the first one. Allocates nothing, since the first view of a
// process may call it.
InstructionSet ChooseInstructionSet(std::string_view name);

// Makes new views and finished filters use this instruction set. For tests and benchmarks. Must not
// be called while other threads make views or finish filters.
void UseInstructionSet(const InstructionSet& set);

// The kernel of the instruction set in use.
const Kernel& KernelFor(const FilterDescription& filter);

}  // namespace exactbloom::filter
