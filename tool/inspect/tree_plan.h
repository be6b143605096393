// What a policy that follows the tree would give to the tables of a database, and why.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tool/database/inspection.h"

namespace exactbloom::tool {

// Tables of a level that would get the same filter, if all tables were written now.
struct PlannedGroup {
  int level = 0;
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;  // of all of them
  double part = 0.0;       // of the keys of the column family, that their sorted run has
  bool ribbon = false;
  double bits_per_key = 0.0;
  std::string reason;  // of the kind of filter
};

struct TreePlan {
  std::string column_family;
  std::string policy;
  std::vector<PlannedGroup> tables;
  // Of all tables.
  double bits_per_key = 0.0;
  double wasted_reads = 0.0;  // per lookup of an absent key
};

// Of each column family whose policy in the OPTIONS file follows the tree.
std::vector<TreePlan> PlansOf(const Inspection& inspection);

std::string FormatPlan(const TreePlan& plan);
nlohmann::json ToJson(const TreePlan& plan);

}  // namespace exactbloom::tool
