// What a rebuild gives the tables of a tree whose policy follows it: size_ratio=auto and
// memory_budget.
//
// A table gets its share by what the tree holds when the table is made, and a rebuild goes from the
// deepest level up. So the rebuild is played through, with the plugin's own census and division.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plugin/tree/tree_division.h"
#include "tree_filters.h"

namespace exactbloom::tool {

// Some tables of a level.
struct RebuiltTables {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  double bits_per_key = 0.0;
  bool bottommost = false;
  double asked = 0.0;  // by a lookup of an absent key: how many of them
};

// Returns the tables of a level, those together that are at the bottom of the tree, or not, and
// have about as many keys; without bits per key.
std::vector<RebuiltTables> AlikeTables(const TreeLevel& level);

// Returns what the tables of each level get, those together whose filters are alike.
//   bytes   of the filters of this level with so many tables, keys and bits per key; 0: they get
//           none, and are not asked for
std::vector<std::vector<RebuiltTables>> RebuildFollowing(
    const tree::DivisionOptions& options, const Tree& tree,
    const std::function<std::uint64_t(const TreeLevel& level, const RebuiltTables& tables)>& bytes);

}  // namespace exactbloom::tool
