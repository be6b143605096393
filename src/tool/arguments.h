// What the subcommands have in common: the layout options, and how bad input is refused.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "exactbloom/layout.h"

namespace exactbloom::tool {

// Bad input. The message is one line that names the option, the value and what is allowed.
class InvalidInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct LayoutArguments {
  std::string kind = "classic";
  int lines = 0;

  void AddTo(CLI::App& command);
  Layout Get() const;
};

// A check for options of unsigned numbers, whose conversion would let a minus sign pass.
std::string RefuseNegative(const std::string& text);

// A number as short as it can be at `digits` significant digits.
std::string Shortest(double number, int digits);

// The policy string that asks for this layout with these options, such as "bits_per_key=10".
std::string PolicyString(const LayoutArguments& layout, const std::string& option);

// Bits per key as the policy takes them: three decimals, not rounded up.
std::string BitsPerKeyText(double bits_per_key);

}  // namespace exactbloom::tool
