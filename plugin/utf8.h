// Where the characters of UTF-8 begin and end in bytes that may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace exactbloom::utf8 {

constexpr unsigned ByteOf(char c) { return static_cast<unsigned char>(c); }

// The bytes in front of a text that are a character, or as much of one as is there.
struct Character {
  std::size_t bytes = 1;
  bool is_whole = false;
  std::uint32_t code_point = 0;  // of a whole one
};

// Of a text that is not empty. Source: the table of well-formed sequences in Unicode 15.0, section
// 3.9.
inline Character FirstCharacter(std::string_view text) {
  const unsigned first = ByteOf(text[0]);
  if (first < 0x80) return {1, true, first};
  if (first < 0xC2 || first > 0xF4) return {1, false};
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  // The second byte excludes longer forms than needed, surrogates, and what is above U+10FFFF.
  unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  std::uint32_t code_point = first & (0x7FU >> length);
  std::size_t bytes = 1;
  for (; bytes < length && bytes < text.size(); ++bytes) {
    const unsigned next = ByteOf(text[bytes]);
    if (next < least || next > most) break;
    code_point = code_point << 6U | (next & 0x3FU);
    least = 0x80;
    most = 0xBF;
  }
  const bool is_whole = bytes == length;
  return {bytes, is_whole, is_whole ? code_point : 0};
}

}  // namespace exactbloom::utf8
