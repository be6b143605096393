#include "json_object.h"

#include <cmath>
#include <cstddef>

#include "../policy_options.h"

namespace exactbloom {
namespace {

constexpr const char* kHexDigits = "0123456789abcdef";
constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned ByteOf(char c) { return static_cast<unsigned char>(c); }

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += kHexDigits[ByteOf(c) >> 4U];
    text += kHexDigits[ByteOf(c) & 15U];
  }
  return text;
}

// The bytes in front of a text that are a character of UTF-8, or as much of one as is there.
struct Character {
  std::size_t bytes = 1;
  bool is_whole = false;
};

// Source: the table of well-formed sequences in Unicode 15.0, section 3.9.
Character FirstCharacter(std::string_view text) {
  const unsigned first = ByteOf(text[0]);
  if (first < 0x80) return {1, true};
  if (first < 0xC2 || first > 0xF4) return {1, false};
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  // The second byte excludes longer forms than needed, surrogates, and what is above U+10FFFF.
  unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  std::size_t bytes = 1;
  for (; bytes < length && bytes < text.size(); ++bytes) {
    if (ByteOf(text[bytes]) < least || ByteOf(text[bytes]) > most) break;
    least = 0x80;
    most = 0xBF;
  }
  return {bytes, bytes == length};
}

std::string Quoted(std::string_view bytes) {
  std::string text = "\"";
  while (!bytes.empty()) {
    const Character character = FirstCharacter(bytes);
    const char c = bytes[0];
    if (!character.is_whole) {
      text += kReplacement;
    } else if (ByteOf(c) < ' ') {
      text.append("\\u00").append(Hex(bytes.substr(0, 1)));
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += bytes.substr(0, character.bytes);
    }
    bytes.remove_prefix(character.bytes);
  }
  return text + '"';
}

}  // namespace

void JsonObject::Add(const std::string& name, const std::string& value) {
  if (!members_.empty()) members_ += ',';
  members_.append("\"").append(name).append("\":").append(value);
}

void JsonObject::AddNumber(const char* name, double number) {
  Add(name, std::isfinite(number) ? FormatNumber(number) : "null");
}

void JsonObject::AddText(const char* name, std::string_view bytes) { Add(name, Quoted(bytes)); }

void JsonObject::AddBytes(const char* name, std::string_view bytes) {
  AddText(name, bytes);
  Add(std::string(name) + "_hex", '"' + Hex(bytes) + '"');
}

void JsonObject::AddArray(const char* name, const std::vector<JsonObject>& objects) {
  std::string text;
  for (const JsonObject& object : objects) {
    if (!text.empty()) text += ',';
    text += object.Text();
  }
  Add(name, '[' + text + ']');
}

}  // namespace exactbloom
