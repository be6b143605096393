// Aligned columns for a terminal.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "terminal.h"

namespace exactbloom::support {

// "12,345".
std::string WithCommas(std::uint64_t number);

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
      return value < 0 ? std::to_string(value) : WithCommas(static_cast<std::uint64_t>(value));
    } else {
      return value;
    }
  }

  std::string text_;
};

using Cells = std::vector<Cell>;

class TextTable {
 public:
  static constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

  // The rank of a column that is not shown at all.
  static constexpr int kNever = std::numeric_limits<int>::max();

  // The first column is aligned to the left, the others to the right.
  //   ranks   of the columns: 0 for those that are always shown; of the others those with the
  //           highest rank are left out first. Without ranks all are shown
  explicit TextTable(Cells header, std::vector<int> ranks = {})
      : ranks_(std::move(ranks)), rows_{{std::move(header), Style::kBold}} {}

  // The cells of a row; `more` are appended to it.
  void AddRow(Cells row, const Cells& more = {}, Style style = Style::kPlain) {
    row.insert(row.end(), more.begin(), more.end());
    rows_.push_back({std::move(row), style});
  }

  // One line per row, the header underlined, of at most `width` characters: the widest of the
  // columns that are always shown is cut to no less than 24 characters, then columns with a rank
  // are left out, then it is cut to no less than 12.
  std::string Format(std::size_t width = kAnyWidth) const;

 private:
  struct Row {
    Cells cells;
    Style style;
  };

  int RankOf(std::size_t column) const { return column < ranks_.size() ? ranks_[column] : 0; }
  std::vector<std::size_t> Widths() const;
  // The widest of the columns that are always shown.
  std::size_t CutColumn(const std::vector<std::size_t>& widths) const;
  // The columns that fit, and their widths.
  std::vector<std::size_t> Shown(const std::vector<std::size_t>& widths, std::size_t width) const;

  std::vector<int> ranks_;
  std::vector<Row> rows_;
};

}  // namespace exactbloom::support
