// Aligned columns for a terminal.
#pragma once

#include <string>
#include <vector>

namespace exactbloom::support {

class TextTable {
 public:
  // The first column is aligned to the left, the others to the right.
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}

  // The cells of a row; `more` are appended to it.
  void AddRow(std::vector<std::string> row, const std::vector<std::string>& more = {}) {
    row.insert(row.end(), more.begin(), more.end());
    rows_.push_back(std::move(row));
  }

  // One line per row, the header underlined.
  std::string Format() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace exactbloom::support
