#include "number_text.h"

#include <charconv>
#include <cmath>

#include "plugin/policy_options.h"

namespace exactbloom::support {
namespace {

constexpr double kLargestWhole = 9007199254740992.0;  // up to here every whole number is a double

template <typename Number>
std::optional<Number> Read(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::optional<double> ReadNumber(std::string_view text) {
  const std::optional<double> value = Read<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> ReadShare(std::string_view text) {
  constexpr double kPercent = 100.0;
  if (text.empty() || text.back() != '%') return ReadNumber(text);
  const std::optional<double> value = ReadNumber(text.substr(0, text.size() - 1));
  return value ? std::optional(*value / kPercent) : std::nullopt;
}

std::optional<std::uint64_t> ReadCount(std::string_view text) {
  if (const auto value = Read<std::uint64_t>(text)) return value;
  const std::optional<double> value = ReadNumber(text);
  if (!value || *value < 0.0 || *value > kLargestWhole || *value != std::floor(*value)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*value);
}

std::optional<std::uint64_t> ReadBytes(std::string_view text) {
  if (const auto value = ReadCount(text)) return value;
  std::size_t begin = text.size();
  while (begin > 0 && IsLetter(text[begin - 1])) --begin;
  const std::string_view unit = text.substr(begin);
  const std::optional<int> shift = unit == "b" || unit == "B" ? 0 : ShiftOfUnit(unit);
  if (begin > 0 && begin < text.size() && text[begin - 1] == ' ') --begin;
  const std::optional<double> value = ReadNumber(text.substr(0, begin));
  if (!shift || !value || *value < 0.0) return std::nullopt;
  const double bytes = std::ldexp(*value, *shift);
  if (bytes > std::ldexp(1.0, 62)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace exactbloom::support
