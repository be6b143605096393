// What more or less memory for filters would do to the wasted reads of a database's trees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/database/tree_filters.h"

namespace exactbloom::tool {

struct CurvePoint {
  double bits_per_key = 0.0;  // the option of the policy
  std::uint64_t filter_bytes = 0;
  double wasted_reads = 0.0;  // per lookup of an absent key, as a mean over the column families
};

struct MemoryCurve {
  std::string name;    // of the kind of filters
  std::string policy;  // without its number
  std::vector<CurvePoint> points;
};

// Returns the curves of RocksDB's Bloom and Ribbon filters and of exactbloom, each as if all tables
// were rewritten with it now: a plan for each of some ten bits per key, from 2 to 20.
std::vector<MemoryCurve> MemoryCurvesOf(const std::vector<Tree>& trees);

}  // namespace exactbloom::tool
