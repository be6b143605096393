// Which policy wastes how many reads, in how much memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "readamp_report.h"

namespace exactbloom::readamp {

// The policy that wastes the fewest reads in a workload, compared with the first one and with the
// next best, and below a table of all policies that have filters, with bars. A difference is
// claimed only where the intervals of the two rates do not overlap. Empty if no policy has filters.
//   workload   its number among the workloads of each policy
std::string SummaryText(const std::vector<PolicyResult>& policies, std::size_t workload);

}  // namespace exactbloom::readamp
