// What lookups during a load wasted, against the best that the same trees allow.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "readamp/lookups/growth.h"

namespace exactbloom::readamp {

// Means over points of a load.
struct GrowthMeans {
  double wasted_reads = 0.0;           // per lookup
  double runs_asked = 0.0;             // sorted runs that a lookup asks
  double bits_per_key = 0.0;           // of the points that have tables
  std::optional<double> over_optimum;  // of the means of both; none if one point has no optimum
};

struct GrowthResult {
  std::string policy;
  std::vector<GrowthPoint> points;  // the last one is at rest
  GrowthMeans loading;
  GrowthMeans at_rest;
  double most_bits_per_key = 0.0;  // of all points
};

GrowthResult MakeGrowthResult(const std::string& policy, const std::vector<GrowthPoint>& points);

// The comparison of the policies, while loading and at rest.
std::string GrowthText(const std::vector<GrowthResult>& results);
nlohmann::json GrowthJson(const GrowthResult& result);

}  // namespace exactbloom::readamp
