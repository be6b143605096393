#include "terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "number_text.h"
#include "plugin/utf8.h"

namespace exactbloom::support {
namespace {

using utf8::Character;
using utf8::FirstCharacter;

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool HasColours() {
  return isatty(STDOUT_FILENO) != 0 && Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
}

// The escape sequence that begins it.
const char* BeginningOf(Style style) {
  switch (style) {
    case Style::kBold:
      return "\x1b[1m";
    case Style::kGood:
      return "\x1b[1;32m";
    case Style::kBad:
      return "\x1b[1;31m";
    case Style::kPlain:
      break;
  }
  return "";
}

bool IsControl(std::uint32_t code) {
  const bool changes_direction =
      (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code < ' ' || (code >= 0x7F && code < 0xA0) || changes_direction;
}

std::size_t WidthOf(const Character& character) {
  const auto is_in = [&](std::uint32_t first, std::uint32_t last) {
    return character.code_point >= first && character.code_point <= last;
  };
  if (is_in(0x300, 0x36F)) return 0;
  const bool is_wide = is_in(0x1100, 0x115F) || is_in(0x2E80, 0xA4CF) || is_in(0xAC00, 0xD7A3) ||
                       is_in(0xF900, 0xFAFF) || is_in(0xFE30, 0xFE6F) || is_in(0xFF00, 0xFF60) ||
                       is_in(0x1F300, 0x1FAFF) || is_in(0x20000, 0x3FFFD);
  return is_wide ? 2 : 1;
}

}  // namespace

std::size_t Columns() {
  constexpr std::uint64_t kFewest = 40;
  constexpr std::uint64_t kMost = 10'000;
  const auto is_usable = [](std::uint64_t columns) {
    return columns >= kFewest && columns <= kMost;
  };
  const auto given = ReadCount(Variable("COLUMNS"));
  if (given && is_usable(*given)) return *given;
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && is_usable(size.ws_col);
  return is_known ? size.ws_col : kUsualColumns;
}

std::string Styled(const std::string& text, Style style) {
  constexpr const char* kEnd = "\x1b[0m";
  if (style == Style::kPlain || !HasColours()) return text;
  return BeginningOf(style) + text + kEnd;
}

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    const std::string_view bytes = text.substr(0, first.bytes);
    if (first.is_whole && !IsControl(first.code_point)) {
      printable += bytes;
    } else {
      for (const char byte : bytes) {
        printable += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    text.remove_prefix(first.bytes);
  }
  return printable;
}

std::size_t ColumnsOf(std::string_view text) {
  std::size_t columns = 0;
  for (; !text.empty(); text.remove_prefix(FirstCharacter(text).bytes)) {
    columns += WidthOf(FirstCharacter(text));
  }
  return columns;
}

std::size_t BytesWithin(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character next = FirstCharacter(text.substr(bytes));
    if (WidthOf(next) > columns) break;
    columns -= WidthOf(next);
    bytes += next.bytes;
  }
  return bytes;
}

}  // namespace exactbloom::support
