// Types of options: counts, shares, bytes, names. Include it only where a command line is
// defined: CLI11's templates take long to compile.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "number_text.h"

namespace exactbloom::support {

// The largest count: up to here every whole number is a double.
inline constexpr std::uint64_t kMostCount = std::uint64_t{1} << 53;

// Each validator checks an option's text and changes it to a form that CLI11 reads.

// 1000000 or 1e6.
inline CLI::Validator Count(std::uint64_t least = 0, std::uint64_t most = kMostCount) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        const std::optional<std::uint64_t> value = ReadCount(text);
        if (!value || *value < least || *value > most) {
          return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
        }
        text = std::to_string(*value);
        return "";
      },
      most < kMostCount ? fmt::format("{} to {}", least, most) : "");
}

// A number that `read` reads, between two bounds; `form` and `noun` describe it in errors.
inline CLI::Validator Real(std::optional<double> (*read)(std::string_view), double least,
                           double most, const char* form, const char* noun) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const std::optional<double> value = read(text);
        if (!value) return fmt::format("'{}' is not {}", text, form);
        if (*value < least || *value > most) {
          return fmt::format("'{}' is not {}from {:g} to {:g}", text, noun, least, most);
        }
        text = fmt::format("{:.17g}", *value);
        return "";
      },
      "");
}

// 0.01 or 1%.
inline CLI::Validator Share(double least = 0.0,
                            double most = std::numeric_limits<double>::infinity()) {
  return Real(ReadShare, least, most, "a number such as 0.01 or 1%", "");
}

// 10, 9.5 or 1e1.
inline CLI::Validator Number(double least = -std::numeric_limits<double>::infinity(),
                             double most = std::numeric_limits<double>::infinity()) {
  return Real(ReadNumber, least, most, "a number", "a number ");
}

// 64M or 1e9.
inline CLI::Validator Bytes() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const std::optional<std::uint64_t> value = ReadBytes(text);
        if (!value)
          return fmt::format("'{}' is not a number of bytes such as 1e6, 64M or 2G", text);
        text = std::to_string(*value);
        return "";
      },
      "");
}

// A name that is not empty.
inline CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](std::string& text) -> std::string { return text.empty() ? "an empty name" : ""; }, "");
}

// One of these names. The help has them between braces.
inline CLI::Validator OneOf(std::vector<std::string> names) {
  std::string description = fmt::format("{{{}}}", fmt::join(names, ","));
  return CLI::Validator(
      [names = std::move(names)](std::string& text) -> std::string {
        for (const std::string& name : names) {
          if (name == text) return "";
        }
        return fmt::format("'{}' is not one of {}", text, fmt::join(names, ", "));
      },
      std::move(description));
}

// Adds an option that takes one of these names and sets `value` to its meaning. The help shows the
// default by its name.
template <typename Value>
CLI::Option* AddChoice(CLI::App& app, const std::string& option, Value& value,
                       std::vector<std::pair<std::string, Value>> choices,
                       const std::string& description) {
  std::vector<std::string> names;
  std::string present;
  for (const auto& [name, meaning] : choices) {
    names.push_back(name);
    if (meaning == value) present = name;
  }
  return app
      .add_option_function<std::string>(
          option,
          [&value, choices = std::move(choices)](const std::string& chosen) {
            for (const auto& [name, meaning] : choices) {
              if (name == chosen) value = meaning;
            }
          },
          description)
      ->check(OneOf(std::move(names)))
      ->default_str(present);
}

}  // namespace exactbloom::support
