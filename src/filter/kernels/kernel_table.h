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

// The one of the name among them, or the first. Needs no memory: a view may be the first to ask.
InstructionSet ChooseInstructionSet(std::string_view name);

// From now on, new views and finished filters use this instruction set; for programs that compare
// them. Must not be called while other threads make views or finish filters.
void UseInstructionSet(const InstructionSet& set);

// The kernel of the instruction set in use.
const Kernel& KernelFor(const FilterDescription& filter);

// How the instruction set in use hashes many keys.
HashKeysFunction HashKeysInUse();

}  // namespace exactbloom::filter
