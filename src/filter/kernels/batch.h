// Parts of the kernels' batched queries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "line_fields.h"

namespace exactbloom::filter {

// A line of an unaligned array lies on two cache lines.
inline void FetchLine(const unsigned char* line) {
  __builtin_prefetch(line);
  __builtin_prefetch(line + kLineBytes - 1);
}

// Bit i becomes results[i]: eight bits at a time are spread over eight bytes.
inline void WriteResults(std::uint32_t hits, std::size_t count, bool* results) {
  constexpr std::uint64_t kOneInEachByte = 0x0101010101010101U;
  constexpr std::uint64_t kBitOfEachByte = 0x8040201008040201U;
  for (std::size_t i = 0; i < count; i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = (hits >> i & 0xff) * kOneInEachByte & kBitOfEachByte;
    const std::uint64_t bytes = (bits + 0x7f * kOneInEachByte) >> 7 & kOneInEachByte;
    std::memcpy(results + i, &bytes, std::min(count - i, sizeof bytes));
  }
}

}  // namespace exactbloom::filter
