// Keys that a user gives in a file.
#pragma once

#include <string>
#include <vector>

namespace exactbloom::support {

// Returns the lines of a file, each a key, without empty ones and without carriage returns at the
// ends.
// Throws InputError for a file that cannot be read or has no keys.
std::vector<std::string> ReadKeyFile(const std::string& path);

}  // namespace exactbloom::support
