// Aligned columns for a terminal.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

namespace exactbloom::support {

// Any text, or a whole number.
class Cell {
 public:
  template <typename Value>
  Cell(const Value& value) : text_(TextOf(value)) {}  // NOLINT(google-explicit-constructor)

  const std::string& Text() const { return text_; }

 private:
  template <typename Value>
  static std::string TextOf(const Value& value) {
    if constexpr (std::is_integral_v<Value>) {
      return std::to_string(value);
    } else {
      return value;
    }
  }

  std::string text_;
};

using Cells = std::vector<Cell>;

class TextTable {
 public:
  // The first column is aligned to the left, the others to the right.
  explicit TextTable(Cells header) : rows_{std::move(header)} {}

  // The cells of a row; `more` are appended to it.
  void AddRow(Cells row, const Cells& more = {}) {
    row.insert(row.end(), more.begin(), more.end());
    rows_.push_back(std::move(row));
  }

  // One line per row, the header underlined.
  std::string Format() const;

 private:
  std::vector<Cells> rows_;
};

}  // namespace exactbloom::support
