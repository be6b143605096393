// The best setting of the policy for a tree under a constraint.
//
// Each kind of setting (flat, by size ratio, by level, by the live tree; with and without Ribbon
// filters at the bottom) has one number, the bits per key, and both the memory of its filters and
// the reads that they save grow with it. So the best number for each kind is found first: as much
// as the memory allows, or as little as the wanted rate needs. Within a memory the flat and the
// best setting are tried in the cache-line layouts, too. Then these candidates are compared, within
// a memory by the expected time of an absent key's lookup, otherwise by the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "tree_filters.h"

namespace exactbloom::tool {

enum class Goal : std::uint8_t { kMemory, kRate, kWastedReads };

struct Constraint {
  Goal goal = Goal::kMemory;
  double value = 0.0;  // the most bytes, or every table's rate, or the sum of the runs' rates

  bool IsMetBy(const TreeFilters& filters) const;
  // The cost to minimise: nanoseconds within a memory, bytes otherwise.
  double CostOf(const TreeFilters& filters) const;
};

struct Candidate {
  std::string policy;  // as filter_policy names it; for the present one as the OPTIONS file has it
  BloomFilterPolicyOptions options;
  TreeFilters filters;
};

// A simpler setting is preferred unless it costs more than this share.
inline constexpr double kWorthwhileGain = 0.02;

// In a tree with universal or FIFO compaction, or that has more than this share of its keys in
// level 0, the levels' sizes change all the time, so that a division by level is never right for
// long.
inline constexpr double kMuchInLevel0 = 0.1;

// Returns the settings that meet the constraint, the cheapest first; none if the memory is too
// small for any filter. What follows the tree already is not divided in a fixed way again.
std::vector<Candidate> FindCandidates(const Tree& tree, Constraint constraint,
                                      const LookupCosts& costs);

// Returns the index of the simplest of those whose cost is within kWorthwhileGain of the smallest;
// among equally simple ones the cheapest. `candidates` must not be empty.
std::size_t Choose(const std::vector<Candidate>& candidates, Constraint constraint);

// The setting that keeps the filters within `bytes` while the tree grows: with memory_budget, and
// the bits per key of `within`, which meets that memory now.
Candidate WithBudget(const Candidate& within, const Tree& tree, std::uint64_t bytes,
                     const LookupCosts& costs);

// How complex a setting is, by the number of ideas in it: lines, a size ratio, bits by level (which
// are right for one tree only, and count twice), Ribbon filters. Following the tree counts as a
// size ratio. Zero for bits_per_key alone.
int ComplexityOf(const BloomFilterPolicyOptions& options);

}  // namespace exactbloom::tool
