// The bits per key that a policy that follows the tree (size_ratio=auto, memory_budget) gives to
// tables. The only file of the tool that calls the plugin's division of bits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "inspection.h"

namespace exactbloom::tool {

struct TreeTable {
  std::uint64_t keys = 0;  // in its filter
  std::uint64_t filter_bytes = 0;
  bool bottommost = false;
  double asked = 1.0;  // tables per lookup of an absent key
};

// Levels that have tables, by their numbers; the tables in the order of a rebuild.
using TreeLevels = std::map<int, std::vector<TreeTable>>;

// Tables of a level with equal or similar filters.
struct TableGroup {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;  // of all of them
  double bits_per_key = 0.0;
  bool bottommost = false;
  bool ribbon = false;  // by a policy that follows the tree
  double asked = 0.0;
};

using TreeGroups = std::map<int, std::vector<TableGroup>>;

// Groups the tables of each level by size and by whether they are bottommost; all get this many
// bits per key.
TreeGroups GroupTables(const TreeLevels& levels, double bits_per_key);

// Returns what a rebuild with such a policy gives to the tables. A table gets its share by what the
// tree holds when the table is written, and a rebuild goes from the deepest level up, so the
// rebuild is simulated with the plugin's own tree and division.
//   partitioned  whether filters are partitioned
//   bytes        the bytes of the filters of such tables; 0: they get none, and are not asked
TreeGroups SimulateRebuild(const BloomFilterPolicyOptions& options, bool partitioned,
                           const TreeLevels& levels,
                           const std::function<std::uint64_t(const TableGroup&)>& bytes);

}  // namespace exactbloom::tool
