// A report before it has a form: sections of sentences, figures and tables. In sentences, words
// between `backticks` are code.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace exactbloom::sweep {

struct Cell {
  std::string text;
  nlohmann::json value;  // what the text was made of, for sorting and for programs
  int colour = -1;       // of a curve, see figure.h; -1 for none
};

inline Cell TextCell(const std::string& text) { return {text, text}; }
// A number, rounded to `digits` significant digits in the text.
inline Cell NumberCell(double value, int digits = 4) {
  return {fmt::format("{:.{}g}", value, digits), value};
}
inline Cell EmptyCell() { return {"-", nullptr}; }

struct Table {
  std::string id;
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

struct Figure {
  std::string id;
  std::string caption;
  std::string svg;  // transparent, with `currentColor` for text and axes
};

struct Section {
  std::string id;
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<Figure> figures;
  std::vector<Table> tables;
};

struct Document {
  std::string title;
  std::string subtitle;
  std::vector<std::string> answers;
  std::vector<Section> sections;
};

// index.html in one piece.
std::string HtmlPage(const Document& document);

// report.md; figures are files beside it.
std::string Markdown(const Document& document);

}  // namespace exactbloom::sweep
