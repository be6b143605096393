#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "number_text.h"

namespace exactbloom::support {
namespace {

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

}  // namespace exactbloom::support
