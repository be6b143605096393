// The filters that a policy that follows the tree gives to tables.
// The only file of the tool that calls the plugin's division of bits.
#pragma once

#include <rocksdb/table.h>

#include <cstdint>
#include <map>
#include <vector>

#include "plugin/allocation/allocation.h"
#include "plugin/allocation/tree_division.h"
#include "plugin/tree/lsm_shape.h"

namespace exactbloom::tool {

// Tables of a level that get similar filters.
struct TableGroup {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;  // of all of them
  bool bottommost = false;
  double asked = 0.0;  // tables per lookup of an absent key

  void Add(const TableGroup& other);
};

// Levels that have tables, by their numbers.
using TreeLevels = std::map<int, std::vector<TableGroup>>;

class FollowedTree {
 public:
  struct Filter {
    double bits_per_key = 0.0;
    bool ribbon = false;
  };

  FollowedTree(const PolicyOptions& options, const rocksdb::BlockBasedTableOptions& table_options,
               const TreeLevels& levels);

  // Returns what `exactbloom rebuild --bits` gives to tables of this level: the share of their
  // sorted run if all tables were written now.
  Filter FilterOf(int level, const TableGroup& tables) const;

 private:
  static constexpr char kFamily[] = "default";

  tree::TreeDivision division_;
  double budget_bytes_;
  tree::LsmShape shape_;
};

}  // namespace exactbloom::tool
