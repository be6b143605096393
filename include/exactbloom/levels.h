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
//   ribbon       whether runs of at least a hundredth of the keys have Ribbon filters, at the rate
//                of ribbon_rate.h and with probes = 0 in the plan
// Precision: the rates are exact. Their sum is within 2% of the least for runs of a thousand keys
// or more. Of each run the bits are rounded down to whole bits, with
// lines = 1 to whole lines. Errors: nothing is returned for parameters outside these ranges.
std::optional<LevelPlan> PlanLevels(Layout layout, const std::vector<std::uint64_t>& keys,
                                    std::uint64_t total_bits, bool ribbon = false);

// Returns the plan of the fewest bits, within one part in a thousand, whose expected wasted reads
// are at most `wasted_reads`.
//   wasted_reads   strictly between 0 and the number of runs
// Other parameters, errors as above; nothing is returned either if kMaxBitsPerKey for each run do
// not suffice.
std::optional<LevelPlan> PlanLevelsForTarget(Layout layout, const std::vector<std::uint64_t>& keys,
                                             double wasted_reads, bool ribbon = false);

inline constexpr double kMaxSizeRatio = 1000.0;

// By how much the memory of GeometricLevelBits may exceed the wanted average, as a share of it. The
// half per cent up to 3% is left for rounding and trailers.
inline constexpr double kLevelBitsTolerance = 0.025;

struct LevelFilter {
  double bits_per_key = 0.0;  // 0: none
  bool ribbon = false;
};

// Returns the filters of the levels of a geometric tree of known size ratio and unknown depth:
// element d is for the d-th level above the bottommost, the last element also for all levels above
// that. They waste the fewest reads in a tree of four levels, under a limit: no level above the
// bottommost gets so much that a tree of fewer levels, in which it holds nearly all other keys,
// takes more than `bits_per_key` and kLevelBitsTolerance. A level whose share is too small for a
// filter gets none.
//   size_ratio     T, above 1, at most kMaxSizeRatio
//   bits_per_key   the average over all keys, 0 .. kMaxBitsPerKey
//   ribbon         as for PlanLevels
// Memory of a tree, if any level above the bottommost may get the last element: at most 1.025 times
// `bits_per_key`. From 10 bits per key and T = 3 on, at least 0.97 times with three or more levels.
// A single level gets element 0 only: 0.94 times at T = 10. Time: some tens of evaluations of the
// exact rate, and of DivideAmongRuns. Errors: an empty vector for parameters outside these ranges.
std::vector<LevelFilter> GeometricLevelBits(Layout layout, double size_ratio, double bits_per_key,
                                            bool ribbon = false);

}  // namespace exactbloom
