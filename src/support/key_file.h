// Keys that a user gives in a file.
#pragma once

#include <string>
#include <vector>

namespace exactbloom::support {

// Returns the lines of a file, each a key, without empty ones and without carriage returns at the
// ends.
//   in_hexadecimal  each line has two digits per byte of the key
// Throws InputError for a file that cannot be read or has no keys, and for a line that has other
// characters than such digits.
std::vector<std::string> ReadKeyFile(const std::string& path, bool in_hexadecimal = false);

}  // namespace exactbloom::support
