// Keys that a user gives in a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace exactbloom::support {

// Returns the lines of a file, each a key, without empty ones and without carriage returns at the
// ends. The file may be a pipe, a FIFO or a terminal, or "-" for standard input: it is read until
// its writers close it.
//   most_bytes  of memory for the keys; a gigabyte holds some twenty million
// Throws InputError for all else, for a file that cannot be read, has no keys or too many, for a
// line of more than a megabyte, and for a FIFO that no process opens to write within a second.
std::vector<std::string> ReadKeyFile(const std::string& path,
                                     std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace exactbloom::support
