#pragma once

#include <cstdint>

namespace exactbloom {
// Returns the bytes of the machine's memory, or the limit of the process's control group or one
// above it (Linux; versions 1 and 2), if that is lower. Throws std::bad_alloc.
std::uint64_t MemoryOfProcess();
}  // namespace exactbloom
