// Trees for which RocksDB does not compare a key with the ranges of tables.
#pragma once

#include <cstddef>

namespace exactbloom::support {

// If level 0 has all tables, and at most this many, a lookup asks each of them.
inline constexpr std::size_t kFewTables = 3;

}  // namespace exactbloom::support
