#include "output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "support/number_text.h"
#include "support/terminal.h"
#include "support/text_table.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

bool IsUtf8(const json& document) {
  try {
    document.dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

std::string InUtf8(const std::string& text) { return IsUtf8(text) ? text : Escaped(text); }

json InUtf8(const json& document) {
  if (document.is_string()) return InUtf8(document.get_ref<const std::string&>());
  if (!document.is_structured()) return document;
  json copy = document.is_array() ? json::array() : json::object();
  for (const auto& [name, value] : document.items()) {
    if (document.is_array()) {
      copy.push_back(InUtf8(value));
    } else {
      copy[InUtf8(name)] = InUtf8(value);
    }
  }
  return copy;
}

constexpr const char* kNone = "practically none";

// A whole number as text.
std::string WithCommas(const std::string& digits) {
  const auto number = support::ReadCount(digits);
  return number ? support::WithCommas(*number) : digits;
}

// As %g writes a number of so many digits, but all of a whole number, and without an exponent.
std::string InDigits(double number, int digits) {
  if (number == 0.0 || !std::isfinite(number)) return fmt::format("{:g}", number);
  const int whole_digits = static_cast<int>(std::floor(std::log10(std::abs(number)))) + 1;
  std::string text = fmt::format("{:.{}f}", number, std::max(0, digits - whole_digits));
  if (text.find('.') == std::string::npos) return WithCommas(text);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string Describe(BloomKind kind) {
  return kind == BloomKind::kClassic ? "classic" : "standard";
}

std::string Counted(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", support::WithCommas(count), noun, count == 1 ? "" : "s");
}

std::string FormatRate(double rate) {
  constexpr int kDigits = 3;
  constexpr double kLeast = 1e-6;
  return rate != 0.0 && rate < kLeast ? "<0.0001%" : InDigits(100.0 * rate, kDigits) + "%";
}

std::string FormatExactRate(double rate) {
  constexpr int kDigits = 5;
  constexpr double kLeast = 1e-7;  // "0.00001%"
  return rate != 0.0 && rate < kLeast ? fmt::format("{:.4e}", rate)
                                      : InDigits(100.0 * rate, kDigits) + "%";
}

std::string PerThousand(double reads) {
  constexpr double kLeast = 0.0005;
  const double wasted = 1000.0 * reads;
  return wasted != 0.0 && wasted < kLeast ? "<0.001" : fmt::format("{:.3f}", wasted);
}

std::string WastedPerThousand(double reads) {
  return reads != 0.0 && reads < kPracticallyNone ? kNone : Rounded(1000.0 * reads);
}

std::string FormatBytes(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024.0 && unit + 1 < std::size(kUnits); ++unit) value /= 1024.0;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string Capitalized(std::string text) {
  char& first = text.front();
  if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
  return text;
}

std::string Rounded(double number) {
  constexpr int kDigits = 3;
  return InDigits(number, kDigits);
}

std::string Wrapped(const std::string& text, std::size_t indent) {
  const std::size_t width = std::min(support::kUsualColumns, support::Columns());
  std::istringstream words(text);
  std::string lines;
  std::size_t used = 0;  // of the last line; 0: it has no word
  for (std::string word; words >> word;) {
    word = support::Printable(word);
    const std::size_t columns = support::ColumnsOf(word);
    const bool fits = used != 0 && used + 1 + columns <= width;
    if (used != 0) lines += fits ? " " : "\n";
    if (!fits) lines += std::string(indent, ' ');
    lines += word;
    used = (fits ? used + 1 : indent) + columns;
  }
  return lines + "\n";
}

std::string LevelName(int level) { return level < 0 ? "-" : fmt::format("{}", level); }

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string ForShell(const std::string& path) {
  const char* const plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
  if (!path.empty() && path.find_first_not_of(plain) == std::string::npos) return path;
  const bool has_controls =
      std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
  std::string text;
  for (const char c : path) {
    const auto value = static_cast<unsigned char>(c);
    if (has_controls && (value < ' ' || value == 0x7F || c == '\\' || c == '\'')) {
      text += fmt::format("\\x{:02x}", value);  // in $'', which bash and others read
    } else {
      text += c == '\'' ? "'\\''" : std::string(1, c);
    }
  }
  return (has_controls ? "$'" : "'") + text + "'";
}

std::string FirstOf(const std::vector<std::string>& names) {
  return Escaped(names.front()) +
         (names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1));
}

bool AreAlike(double reads, double others) {
  constexpr double kAlike = 0.1;
  return std::abs(reads - others) <= std::max(kPracticallyNone, kAlike * std::max(reads, others));
}

std::string Escaped(const std::string& bytes) { return support::Printable(bytes); }

void PrintJson(const json& document) {
  fmt::print("{}\n", (IsUtf8(document) ? document : InUtf8(document)).dump(2));
}

}  // namespace exactbloom::tool
