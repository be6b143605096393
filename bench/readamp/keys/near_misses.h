// Absent keys that differ from a present one in one character.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "key_set.h"

namespace exactbloom::readamp {

// Returns `count` different keys, or as many as are found without trying for long: a stored key
// whose character at a random place is replaced by one of another key's. None of them is a key of
// the set. Equal sets give equal keys.
std::vector<std::string> MakeNearMisses(const KeySet& keys, std::size_t count);

}  // namespace exactbloom::readamp
