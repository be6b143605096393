// Absent keys that differ from a present one in one character.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "key_set.h"

namespace exactbloom::readamp {

// Returns `count` different keys, or as many as are found without trying for long: stored keys with
// the character at a random place replaced by one of another key. None of them is a key of the set.
// Equal sets give equal keys.
std::vector<std::string> MakeNearMisses(const KeySet& keys, std::size_t count);

}  // namespace exactbloom::readamp
