// The parts that kernels share: those that work on one field or position at a time, and those of
// batches. The former are out of line, since they are rarely called and would take registers from
// the fast code.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "code_word.h"
#include "exactbloom/bloom_filter.h"

namespace exactbloom::filter {

inline constexpr std::size_t kLineBytes = kLineBits / 8;

// The fields of a line that are in use: how many, and as the lowest bits.
struct FieldsInUse {
  int count;
  std::uint32_t lanes;
};

// Of the stream that begins with `word`: whether the bits of the fields that replace equal ones
// among the first `count` are set.
bool ReplacementFieldsSet(const unsigned char* line, std::uint64_t word, int count);

// Set the bits of the first `count` fields, and of those that replace equal ones.
void SetFirstFields(unsigned char* line, std::uint64_t word, int count);
void SetReplacements(unsigned char* line, std::uint64_t word, int count);

// Whether all bits of a key are set, by the definition.
bool CodeWordSet(const unsigned char* array, const FilterDescription& filter, std::uint64_t hash);

// Sets the bits of a word's first fields, equal ones included.
inline void SetEachField(unsigned char* line, std::uint64_t word, int used) {
  for (int i = 0; i < used; ++i) SetBit(line, Field(word, i));
}

// A line for each position, with only the bit of that position set.
struct alignas(kLineBytes) OneHotLine {
  unsigned char bytes[kLineBytes];
};
extern const std::array<OneHotLine, kLineBits> kOneHotLines;

// A line of an unaligned array lies on two cache lines.
inline void FetchLine(const unsigned char* line) {
  __builtin_prefetch(line);
  __builtin_prefetch(line + kLineBytes - 1);
}

// Bit i becomes results[i]: eight bits at a time are spread over eight bytes.
inline void WriteResults(std::uint32_t hits, std::size_t count, bool* results) {
  constexpr std::uint64_t kOneInEachByte = 0x0101010101010101U;
  constexpr std::uint64_t kBitOfEachByte = 0x8040201008040201U;
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= count; i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = (hits >> i & 0xff) * kOneInEachByte & kBitOfEachByte;
    const std::uint64_t bytes = (bits + 0x7f * kOneInEachByte) >> 7 & kOneInEachByte;
    std::memcpy(results + i, &bytes, sizeof bytes);
  }
  for (; i < count; ++i) results[i] = (hits >> i & 1) != 0;
}

}  // namespace exactbloom::filter
