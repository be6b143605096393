#include <fmt/format.h>

#include "document.h"

namespace exactbloom::sweep {
namespace {

std::string TableMarkdown(const Table& table) {
  std::string text = table.caption + "\n\n|";
  for (const std::string& column : table.columns) text += fmt::format(" {} |", column);
  text += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const Cell& cell : row) text += fmt::format(" {} |", cell.text);
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

std::string Markdown(const Document& document) {
  std::string text = fmt::format("# {}\n\n{}\n\n", document.title, document.subtitle);
  for (const std::string& answer : document.answers) text += fmt::format("- {}\n", answer);
  text += "\n";
  for (const Section& section : document.sections) {
    text += fmt::format("## {}\n\n", section.title);
    for (const std::string& paragraph : section.paragraphs) text += paragraph + "\n\n";
    for (const Figure& figure : section.figures) {
      text += fmt::format("![{}]({}.svg)\n\n", figure.caption, figure.id);
    }
    for (const Table& table : section.tables) text += TableMarkdown(table);
  }
  while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  return text;
}

}  // namespace exactbloom::sweep
