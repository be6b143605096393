// Which of the keys go into which sorted run of a tree like the user's.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "key_set.h"
#include "user_database.h"

namespace exactbloom::readamp {

// Returns the sorted run of each of the numbers, or kAbsent. A key goes to one of the tables whose
// ranges hold it, with a probability in proportion to their densities: their entries over the keys
// in their range. So a sorted run gets its share of the keys, in the ranges that it covers. Keys
// beyond all tables are in none.
//   tables   in the order of UserDatabase, in at most 127 sorted runs
//   keys     all keys, in order
//   numbers  of those that are to be stored
std::vector<std::int8_t> AssignToRuns(const std::vector<UserTable>& tables,
                                      const std::vector<std::string>& keys,
                                      const std::vector<std::uint32_t>& numbers,
                                      std::mt19937_64& random);

}  // namespace exactbloom::readamp
