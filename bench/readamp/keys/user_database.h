// The keys of a user's own database, which is only read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace exactbloom::readamp {

// Returns at most `limit` keys of the default column family of the database in `directory`, drawn
// at random (equal seeds give equal keys), unordered. Reads all keys of the family. Nothing, not
// even an info log, is written into the directory, and the database may be in use. Throws
// InputError if it cannot be opened or read.
std::vector<std::string> SampleKeys(const std::string& directory, std::uint64_t limit,
                                    std::uint64_t seed);

}  // namespace exactbloom::readamp
