// Which trees RocksDB asks without a look at the ranges of their tables.
#pragma once

#include <cstddef>

namespace exactbloom::support {

// If level 0 has all tables, and at most so many, a lookup asks each of them, whatever keys it has.
inline constexpr std::size_t kFewTables = 3;

}  // namespace exactbloom::support
