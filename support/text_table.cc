#include "text_table.h"

#include <algorithm>
#include <numeric>

namespace exactbloom::support {
namespace {

constexpr std::size_t kGap = 2;  // between columns

std::size_t LineWidth(const std::vector<std::size_t>& widths,
                      const std::vector<std::size_t>& columns) {
  return std::accumulate(columns.begin(), columns.end(), kGap * (columns.size() - 1),
                         [&](std::size_t sum, std::size_t column) { return sum + widths[column]; });
}

// Its beginning and its end, with two dots between them where it is too long.
std::string Cut(const std::string& text, std::size_t width) {
  const std::size_t columns = ColumnsOf(text);
  if (columns <= width) return text;
  const std::size_t end = (width - 2) / 2;
  return text.substr(0, BytesWithin(text, width - 2 - end)) + ".." +
         text.substr(BytesWithin(text, columns - end));
}

}  // namespace

std::string WithCommas(std::uint64_t number) {
  constexpr std::size_t kGroup = 3;
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > kGroup; i -= kGroup) digits.insert(i - kGroup, ",");
  return digits;
}

std::vector<std::size_t> TextTable::Widths() const {
  std::vector<std::size_t> widths(rows_.front().cells.size(), 0);
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], ColumnsOf(row.cells[i].Text()));
    }
  }
  return widths;
}

std::vector<std::size_t> TextTable::Shown(const std::vector<std::size_t>& widths,
                                          std::size_t width) const {
  std::vector<std::size_t> columns(widths.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  columns.erase(std::remove_if(columns.begin(), columns.end(),
                               [&](std::size_t i) { return RankOf(i) == kNever; }),
                columns.end());
  while (LineWidth(widths, columns) > width) {
    // Of equal ranks the one to the right.
    const auto last = std::max_element(
        columns.rbegin(), columns.rend(),
        [&](std::size_t one, std::size_t other) { return RankOf(one) < RankOf(other); });
    if (RankOf(*last) == 0) break;
    columns.erase(std::next(last).base());
  }
  return columns;
}

std::size_t TextTable::CutColumn(const std::vector<std::size_t>& widths) const {
  std::size_t widest = 0;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (RankOf(i) == 0 && widths[i] > widths[widest]) widest = i;
  }
  return widest;
}

std::string TextTable::Format(std::size_t width) const {
  constexpr std::size_t kFewest = 12;
  constexpr std::size_t kFewestBesideMore = 24;
  std::vector<std::size_t> widths = Widths();
  const std::size_t cut = CutColumn(widths);
  std::vector<std::size_t> least = widths;
  least[cut] = std::min(widths[cut], kFewestBesideMore);
  const std::vector<std::size_t> columns = Shown(least, width);
  const std::size_t all = LineWidth(widths, columns);
  if (all > width) {
    widths[cut] =
        std::max(std::min(kFewest, widths[cut]), widths[cut] - std::min(widths[cut], all - width));
  }
  std::string text;
  for (const Row& row : rows_) {
    std::string line;
    for (const std::size_t i : columns) {
      const std::string cell = Cut(row.cells[i].Text(), widths[i]);
      const std::string blanks(widths[i] - std::min(widths[i], ColumnsOf(cell)), ' ');
      line += i == 0 ? cell + blanks : std::string(kGap, ' ') + blanks + cell;
    }
    const std::size_t end = line.find_last_not_of(' ') + 1;
    text += Styled(line.substr(0, end), row.style) + "\n";
    if (&row == &rows_.front()) text += std::string(ColumnsOf(line), '-') + "\n";
  }
  return text;
}

}  // namespace exactbloom::support
