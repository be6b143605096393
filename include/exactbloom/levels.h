// Dividing filter memory among the sorted runs of an LSM tree (Dayan et al., "Monkey", 2017).
//
// A lookup of an absent key asks the filter of every sorted run, so its wasted disk reads are, on
// average, the sum of their false-positive rates. A bit per key is cheaper in a small run than in a
// large one; the sum is smallest when the rates are about proportional to the sizes.
//
// The functions allocate and throw std::bad_alloc when memory is short, nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exactbloom/layout.h"
#include "exactbloom/sizing.h"

namespace exactbloom {

struct LevelPlan {
  std::vector<FilterSize> filters;  // one per run; bits = 0 and a rate of one: no filter
  double wasted_reads = 0.0;        // the sum of the rates
};

// Divides `total_bits` among runs of `keys[i]` keys each so that the expected wasted reads of an
// absent-key lookup are least, with k* for each Bloom filter.
//   keys         n_i, each 1 .. 1e12; 1 .. 64 runs
//   total_bits   0 .. 2^53; at most kMaxBitsPerKey of each run are used
//   ribbon       whether the runs have Ribbon filters (ribbon_filter.h), whose probes are 0
// Precision: the rates of Bloom filters are exact, those of Ribbon filters those of large ones,
// which 1,000 keys exceed by half, 20,000 by 2 to 6%. Their sum is within 2% of the least for runs
// of a thousand keys or more. Of each run the bits are rounded down to whole bits. Errors: nothing
// is returned for parameters outside these ranges.
std::optional<LevelPlan> PlanLevels(FilterKind kind, const std::vector<std::uint64_t>& keys,
                                    std::uint64_t total_bits, bool ribbon = false);

// Returns the plan of the fewest bits, within one part in a thousand, whose expected wasted reads
// are at most `wasted_reads`.
//   wasted_reads   strictly between 0 and the number of runs
// Other parameters, errors as above; nothing is returned either if kMaxBitsPerKey for each run do
// not suffice.
std::optional<LevelPlan> PlanLevelsForTarget(FilterKind kind,
                                             const std::vector<std::uint64_t>& keys,
                                             double wasted_reads, bool ribbon = false);

}  // namespace exactbloom
