// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace exactbloom::support {

// Returns the name that `word` is a misspelling or the beginning of: at most a third of its letters
// are missing, wrong, too many or in the place of their neighbour. Empty if there is none.
std::string NearestName(std::string_view word, const std::vector<std::string>& names);

// Returns the end of an error message: ": did you mean inspect?", or if no name is near ": it is
// not one of inspect, verify".
std::string WhatWasMeant(std::string_view word, const std::vector<std::string>& names);

}  // namespace exactbloom::support
