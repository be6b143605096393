// The parts of kernels that work on one field at a time. Those of all instruction sets are out of
// line: they are rarely called, and would take registers from the fast code.
#pragma once

#include <cstddef>

#include "code_word.h"

namespace exactbloom::filter {

inline constexpr std::size_t kLineBytes = kLineBits / 8;

// Whether the bits of the first `count` different fields are set, of the stream that begins with
// `word` in a layout of `lines`.
bool DistinctFieldsSet(const unsigned char* line, std::uint64_t word, int lines, int count);

// Sets the bits of a line's part of a code word.
void AddFields(unsigned char* line, std::uint64_t word, int lines, FilterKind kind, int count);

// Sets the bits of a word's first fields, equal ones included.
inline void SetEachField(unsigned char* line, std::uint64_t word, int used) {
  for (int i = 0; i < used; ++i) SetBit(line, Field(word, i));
}

// A line for each position, with only the bit of that position set.
struct alignas(kLineBytes) OneHotLine {
  unsigned char bytes[kLineBytes];
};
extern const std::array<OneHotLine, kLineBits> kOneHotLines;

}  // namespace exactbloom::filter
