// The best setting of the policy for a tree under a constraint.
//
// Each kind of setting (flat, by size ratio, by level; with and without Ribbon filters at the
// bottom) has one number, the bits per key, and both what its filters take and what they keep away
// grow with it. So each is brought to its best number first: as much as the memory allows, or as
// little as the wanted rate needs. Within a memory the flat and the best setting are tried in the
// cache-line layouts, too. Then these candidates are compared, by the expected time of an absent
// key's lookup within a memory, else by the bytes.
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
  double value = 0.0;  // bytes at most, or every table's rate, or the sum of the runs' rates

  bool IsMetBy(const TreeFilters& filters) const;
  // What is to be small: nanoseconds within a memory, bytes otherwise.
  double CostOf(const TreeFilters& filters) const;
};

struct Candidate {
  std::string policy;  // as filter_policy names it; of the present one what the OPTIONS file says
  BloomFilterPolicyOptions options;
  TreeFilters filters;
};

// A simpler setting is preferred unless it costs more than this share.
inline constexpr double kWorthwhileGain = 0.02;

// Returns the settings that meet the constraint, the cheapest first; none if the memory is too
// small for any filter.
std::vector<Candidate> FindCandidates(const Tree& tree, Constraint constraint,
                                      const LookupCosts& costs);

// Returns the index of the simplest of those whose cost is within kWorthwhileGain of the smallest;
// among equally simple ones the cheapest. `candidates` must not be empty.
std::size_t Choose(const std::vector<Candidate>& candidates, Constraint constraint);

// How many ideas a setting takes to explain: lines, a size ratio, bits by level (which are right
// for one tree only, and count twice), Ribbon filters. Zero for bits_per_key alone.
int ComplexityOf(const BloomFilterPolicyOptions& options);

}  // namespace exactbloom::tool
