// What lookups during a load wasted, against the best that the same trees allow.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "readamp/lookups/growth.h"

namespace exactbloom::readamp {

// Means over points of a load. The names are those of the JSON.
struct GrowthMeans {
  double wasted_reads_per_lookup = 0.0;
  double runs_asked = 0.0;            // sorted runs that a lookup asks
  double bits_per_key = 0.0;          // of the points that have tables
  double over_present_optimum = 0.0;  // the mean reads over the mean optimum; NaN if that is zero
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
