#include "json_object.h"

#include <cmath>
#include <cstddef>

#include "../policy_options.h"
#include "../utf8.h"

namespace exactbloom {
namespace {

constexpr const char* kHexDigits = "0123456789abcdef";
constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += kHexDigits[utf8::ByteOf(c) >> 4U];
    text += kHexDigits[utf8::ByteOf(c) & 15U];
  }
  return text;
}

std::string Quoted(std::string_view bytes) {
  std::string text = "\"";
  while (!bytes.empty()) {
    const utf8::Character character = utf8::FirstCharacter(bytes);
    const char c = bytes[0];
    if (!character.is_whole) {
      text += kReplacement;
    } else if (utf8::ByteOf(c) < ' ') {
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
