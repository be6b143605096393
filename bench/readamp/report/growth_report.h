// What lookups during a load wasted, against the best that the same tree allows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "readamp/lookups/growth.h"

namespace rocksdb {
class FilterPolicy;
}

namespace exactbloom::readamp {

// Wasted reads per lookup, by the exact rates, of the best division (PlanLevels) of bits among the
// sorted runs of a point's tree, with one rate in each run. The runs count by the share of the
// lookups that ask them. None if the tree has no tables, or more sorted runs than PlanLevels takes.
struct GrowthOptimum {
  std::optional<double> present;  // of the bits that the tree's filters have
  std::optional<double> wanted;   // of the policy's bits per key, if it has such an option
};

// Means over points of a load.
struct GrowthMeans {
  double wasted_reads = 0.0;  // per lookup
  double runs_asked = 0.0;    // sorted runs that a lookup asks
  double bits_per_key = 0.0;  // of the points that have tables
  // Of the means of both; none if one point has no optimum.
  std::optional<double> over_present_optimum;
  std::optional<double> over_wanted_optimum;
};

struct GrowthResult {
  std::string policy;
  Growth growth;
  std::vector<GrowthOptimum> optima;  // of each point of the load, and at last of the one at rest

  GrowthMeans Loading() const;
  GrowthMeans AtRest() const;
  double MostBitsPerKey() const;  // of all points
  bool HasFilters() const;        // at any time
};

// Adds the optima. They are those of the policy's own layout and Ribbon filters; of the classic
// layout for a policy that is not ExactBloom's. The policy is null for none.
//   name   of the policy
GrowthResult WithOptima(const std::string& name, const rocksdb::FilterPolicy* policy,
                        const Growth& growth);

// The comparison of the policies, and a table over time for each.
std::string GrowthText(const std::vector<GrowthResult>& results);
nlohmann::json GrowthJson(const GrowthResult& result);

}  // namespace exactbloom::readamp
