// The JSON that functions of the C interface return. Source: RFC 8259.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace exactbloom {

// An object, with its members in the order in which they are added. Their names are plain ASCII.
// The functions throw std::bad_alloc.
class JsonObject {
 public:
  void AddNull(const char* name) { Add(name, "null"); }
  template <typename Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  void AddNumber(const char* name, Integer number) {
    Add(name, std::to_string(number));
  }
  // With the digits by which it is read back as it is; null if it is infinite or not a number.
  void AddNumber(const char* name, double number);
  // Any bytes. Each maximal part of a character that is not whole, and each other byte that is not
  // UTF-8, becomes U+FFFD (Unicode 15.0, section 3.9, as decoders of the web do).
  void AddText(const char* name, std::string_view bytes);
  // Adds bytes as text, and all of them under `name`_hex in hexadecimal.
  void AddBytes(const char* name, std::string_view bytes);
  void AddObject(const char* name, const JsonObject& object) { Add(name, object.Text()); }
  void AddArray(const char* name, const std::vector<JsonObject>& objects);

  std::string Text() const { return "{" + members_ + "}"; }

 private:
  void Add(const std::string& name, const std::string& value);

  std::string members_;
};

}  // namespace exactbloom
