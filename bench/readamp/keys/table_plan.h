// Which of the keys go into which table of a tree like the user's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "key_set.h"
#include "user_database.h"

namespace exactbloom::readamp {

// A table of fewer keys would have a filter of another kind of size, so neighbours are joined.
inline constexpr std::size_t kLeastKeysOfTable = 1000;

struct TablePlan {
  std::vector<std::int8_t> sorted_run;  // of each of the numbers, or kAbsent
  std::vector<KeySet::Run> runs;
};

// A key goes to one of the tables whose ranges hold it, with a probability in proportion to their
// densities: their entries over the keys in their range. So a sorted run gets its share of the
// keys, in the ranges that it covers. Keys beyond all tables are in none. Each sorted run is cut
// where a table begins, unless one of the two tables would have fewer than kLeastKeysOfTable.
//   tables   in the order of UserDatabase, in at most 127 sorted runs
//   keys     all keys, in order
//   numbers  of those that are to be stored
TablePlan PlanTables(const std::vector<UserTable>& tables, const std::vector<SampledKey>& keys,
                     const std::vector<std::uint32_t>& numbers, std::mt19937_64& random);

}  // namespace exactbloom::readamp
