// Keys that a user gives in a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace exactbloom::support {

enum class KeyFormat {
  kText,  // a key per line; empty lines and carriage returns at the ends are left out
  kHex,   // the same in hexadecimal digits, of either case, with or without 0x before them
};

// Returns the keys of a file. The file may be a pipe, a FIFO or a terminal, or "-" for standard
// input: it is read until its writers close it.
//   most_bytes  of memory for the keys; a gigabyte holds some twenty million
// Throws InputError for all else, for a file that cannot be read, has no keys or too many or is in
// another format, for a line of more than a megabyte, and for a FIFO that no process opens
// to write within a second.
std::vector<std::string> ReadKeyFile(const std::string& path, KeyFormat format = KeyFormat::kText,
                                     std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace exactbloom::support
