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

// The filters of the tables of the bottommost (the largest) sorted run.
enum class BottommostFilter : std::uint8_t { kBloom, kRibbon };

struct LevelPlan {
  std::vector<FilterSize> filters;  // one per run; bits = 0 and a rate of one: no filter
  double wasted_reads = 0.0;        // the sum of the rates
};

// Divides `total_bits` among runs of `keys[i]` keys each so that the expected wasted reads of an
// absent-key lookup are least, by the exact rates with their own k*.
//   keys         n_i, each 1 .. 1e12; 1 .. 64 runs
//   total_bits   0 .. 2^53; with lines = 1 whole lines of it are used
//   bottommost   with kRibbon the last run has a Ribbon filter, at the rate of ribbon_rate.h and
//                with probes = 0 in the plan
// The division is a local optimum, from some hundred bits (or lines) on within a thousandth of the
// best: the search starts from rates in proportion to the sizes, and ends when no move of a
// power-of-two amount from one run to another helps. Time: some thousands of evaluations of the
// exact rate. Errors: nothing is returned for parameters outside these ranges.
std::optional<LevelPlan> PlanLevels(Layout layout, const std::vector<std::uint64_t>& keys,
                                    std::uint64_t total_bits,
                                    BottommostFilter bottommost = BottommostFilter::kBloom);

// Returns the plan of about the fewest bits whose expected wasted reads are at most `wasted_reads`.
//   wasted_reads   strictly between 0 and the number of runs
// Other parameters, errors as above. The total is the least within one part in a thousand.
std::optional<LevelPlan> PlanLevelsForTarget(
    Layout layout, const std::vector<std::uint64_t>& keys, double wasted_reads,
    BottommostFilter bottommost = BottommostFilter::kBloom);

// Returns the bits per key of the levels of a geometric tree, smallest level first, that Monkey's
// closed rule gives: each level has ln T / (ln 2)^2 more than the next larger one, and the total is
// that of `bits_per_key` everywhere. Levels that would get less than 0 get 0, and the others share
// the memory.
//   levels         1 .. 64
//   size_ratio     T, above 1: a level has T times the keys of the one before
//   bits_per_key   0 or more
// Errors: an empty vector for parameters outside these ranges. Source: Dayan et al. 2017.
std::vector<double> MonkeyBitsPerKey(int levels, double size_ratio, double bits_per_key);

inline constexpr double kMaxSizeRatio = 1000.0;

// By how much the memory of GeometricLevelBits may exceed the wanted average, as a share of it. The
// half per cent up to 3% is left for rounding and trailers.
inline constexpr double kLevelBitsTolerance = 0.025;

// Returns bits per key for the levels of a geometric tree of known size ratio and unknown depth:
// element d is for the d-th level above the bottommost, the last element also for all levels above
// that. They are the best division by the exact rates for a tree of four levels, with a limit: no
// level above the bottommost gets so much that a tree of fewer levels, in which it holds nearly all
// other keys, takes more than `bits_per_key` and kLevelBitsTolerance. A level whose share is too
// small for a filter gets zero.
//   size_ratio     T, above 1, at most kMaxSizeRatio
//   bits_per_key   the average over all keys, 0 .. kMaxBitsPerKey
// Memory of a tree, if any level above the bottommost may get the last element: at most 1.025 times
// `bits_per_key`. From 10 bits per key and T = 3 on, at least 0.97 times with three or more levels.
// A single level gets element 0 only: 0.95 times at T = 10. Precision: 0.5% of an element. Time:
// some hundreds of evaluations of the exact rate. Errors: an empty vector for parameters outside
// these ranges.
std::vector<double> GeometricLevelBits(Layout layout, double size_ratio, double bits_per_key,
                                       BottommostFilter bottommost = BottommostFilter::kBloom);

}  // namespace exactbloom
