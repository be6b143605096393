#include "number_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

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

// Cuts the letters at the end off, and a space before them.
std::string CutUnit(std::string_view& text) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  std::size_t begin = text.size();
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  std::string unit(text.substr(begin));
  if (begin > 0 && begin < text.size() && text[begin - 1] == ' ') --begin;
  text = text.substr(0, begin);
  return unit;
}

// The factor of a unit of bytes; nothing if there is none such.
std::optional<double> FactorOfBytes(std::string unit) {
  constexpr std::string_view kUnits = "kmgtp";
  constexpr double kStep = 1024.0;
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (unit.empty() || unit == "b") return 1.0;
  const std::size_t power = kUnits.find(unit[0]);
  const std::string rest = unit.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) {
    return std::nullopt;
  }
  return std::pow(kStep, static_cast<double>(power + 1));
}

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
  const std::optional<double> factor = FactorOfBytes(CutUnit(text));
  const std::optional<double> value = ReadNumber(text);
  if (!factor || !value) return std::nullopt;
  const double bytes = std::floor(*value * *factor);
  if (bytes < 0.0 || bytes > std::ldexp(1.0, 62)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<double> ReadNanoseconds(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const std::string unit = CutUnit(text);
  const auto* known = std::find_if(kUnits.begin(), kUnits.end(),
                                   [&](const auto& candidate) { return candidate.first == unit; });
  const std::optional<double> value = ReadNumber(text);
  if (known == kUnits.end() || !value || *value < 0.0) return std::nullopt;
  return *value * known->second;
}

}  // namespace exactbloom::support
