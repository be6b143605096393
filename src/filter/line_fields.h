// What the kernels of all instruction sets do one field at a time.
#pragma once

#include <cstddef>

#include "code_word.h"

namespace exactbloom::filter {

inline constexpr std::size_t kLineBytes = kLineBits / 8;

// Whether the bits of the first `count` different fields are set.
inline bool DistinctFieldsSet(const unsigned char* line, const FieldStream& stream, int count) {
  DistinctFields fields(stream);
  for (int i = 0; i < count; ++i) {
    if (!TestBit(line, fields.Next())) return false;
  }
  return true;
}

// Sets the bits of a line's part of a code word.
inline void AddStream(unsigned char* line, FieldStream stream, FilterKind kind, int count) {
  DistinctFields distinct(stream);
  for (int i = 0; i < count; ++i) {
    SetBit(line, kind == FilterKind::kClassic ? distinct.Next() : stream.Next());
  }
}

// A line for each position, with only the bit of that position set.
struct alignas(kLineBytes) OneHotLine {
  unsigned char bytes[kLineBytes];
};
extern const std::array<OneHotLine, kLineBits> kOneHotLines;

}  // namespace exactbloom::filter
