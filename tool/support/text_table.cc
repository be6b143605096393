#include "text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace exactbloom::support {

std::string TextTable::Format() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const Cells& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].Text().size());
    }
  }
  std::string text;
  for (const Cells& row : rows_) {
    std::string line = fmt::format("{:<{}}", row.front().Text(), widths.front());
    for (std::size_t i = 1; i < row.size(); ++i) {
      line += fmt::format("  {:>{}}", row[i].Text(), widths[i]);
    }
    text += line + "\n";
    if (&row == &rows_.front()) text += std::string(line.size(), '-') + "\n";
  }
  return text;
}

}  // namespace exactbloom::support
