// The fewest reads that filters of the same memory could waste in a growing tree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace rocksdb {
class FilterPolicy;
}

namespace exactbloom::readamp {

// A sorted run of a growing tree: a file of level 0, or a deeper level.
struct GrowthRun {
  int level = 0;
  std::uint64_t tables = 0;
  std::uint64_t unfiltered_tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  double asked = 0.0;  // the share of the lookups whose keys lie within one of the tables
};

// Returns the wasted reads per lookup, by the exact rates, of the best division (PlanLevels) of the
// runs' filter bytes, with one rate in each run. Layout and Ribbon filters are the policy's, and
// classic filters for a policy that is not ExactBloom's, or null. Nothing without tables, and for
// more sorted runs than PlanLevels takes.
std::optional<double> LeastWastedReads(const rocksdb::FilterPolicy* policy,
                                       const std::vector<GrowthRun>& runs);

}  // namespace exactbloom::readamp
