// The keys of a user's own database, which is only read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace exactbloom::readamp {

// Returns at most `limit` keys of the default column family of the database in `directory`, drawn
// at random but for equal seeds the same, in no order. Reads all of them. Nothing is written into
// the directory, no info log either, and the database may be in use.
// Throws InputError where it cannot be opened or read.
std::vector<std::string> SampleKeys(const std::string& directory, std::uint64_t limit,
                                    std::uint64_t seed);

}  // namespace exactbloom::readamp
