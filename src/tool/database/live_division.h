// What size_ratio=auto and memory_budget give the sorted runs of a database's trees.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "inspection.h"

namespace exactbloom::tool {

// Returns the bits per key that each level would get if all of its tables were made now, by column
// family and level, for the families whose policy, by the OPTIONS file, follows the tree.
std::map<std::pair<std::string, int>, double> PlannedBits(const Inspection& inspection);

}  // namespace exactbloom::tool
