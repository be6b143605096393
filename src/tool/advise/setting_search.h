// The best setting of the policy for a tree under a constraint.
//
// Every shape of setting (flat, by size ratio, by level; with and without Ribbon filters at the
// bottom; in each layout) has one number, the bits per key, and both what filters take and what
// they keep away grow with it. So each shape is brought to its best number first: as much as the
// memory allows, or as little as the wanted rate needs. Then these candidates are compared, by the
// expected time of an absent key's lookup within a memory, else by the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "filter_prediction.h"
#include "tree_shape.h"

namespace exactbloom::tool {

enum class Goal : std::uint8_t { kMemory, kRate, kWastedReads };

struct Constraint {
  Goal goal = Goal::kMemory;
  double value = 0.0;  // bytes at most, or every table's rate, or the sum of the runs' rates
};

struct Candidate {
  std::string policy;  // as filter_policy names it; of the first one what the options say now
  BloomFilterPolicyOptions options;
  PredictedFilters filters;
  double nanoseconds = 0.0;  // of a lookup of an absent key: its wasted reads and its checks
  int complexity = 0;        // how much there is to a setting: zero for bits_per_key alone
};

// A simpler setting is preferred unless it costs more than this share.
inline constexpr double kWorthwhileGain = 0.02;

// Memory is used, and a target met, within this share.
inline constexpr double kSearchTolerance = 0.001;

// Returns the settings that meet the constraint, each as `policy` and `options`, in no order; none
// if the memory is too small for any filter. With lines = 1 and 2 only the flat setting where the
// others cannot gain kWorthwhileGain by their faster checks.
std::vector<Candidate> FindCandidates(const TreeShape& tree, Constraint constraint,
                                      double read_nanoseconds);

// What the tree's filters take and let through now.
Candidate CandidateOfNow(const TreeShape& tree, const std::string& policy, double read_nanoseconds);

// What is to be small: nanoseconds within a memory, bytes otherwise.
double CostOf(const Candidate& candidate, Goal goal);

bool Meets(const Candidate& candidate, Constraint constraint);

// Returns the index of the simplest of those whose cost is within kWorthwhileGain of the smallest;
// among equally simple ones the cheapest. `candidates` must not be empty.
std::size_t Choose(const std::vector<Candidate>& candidates, Goal goal);

}  // namespace exactbloom::tool
