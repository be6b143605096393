// The fewest reads that filters of the same memory could waste in a growing tree.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <vector>

namespace exactbloom::readamp {

// A sorted run of a growing tree: a file of level 0, or a deeper level.
struct GrowthRun {
  int level = 0;
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  double asked = 0.0;  // the share of the lookups whose keys lie within one of the tables
};

// Returns the wasted reads per lookup of the best division of the runs' filter bytes among them, by
// the exact rates, with one rate in each run. The runs have the filters that the policy would give
// them now, Bloom or Ribbon; for a policy that is not ExactBloom's, or null, they are classic.
// Precision: 2% for runs of a thousand keys or more (DivideAmongRuns).
double LeastWastedReads(const rocksdb::FilterPolicy* policy, const std::vector<GrowthRun>& runs);

}  // namespace exactbloom::readamp
