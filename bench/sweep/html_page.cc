#include <fmt/format.h>

#include "document.h"
#include "figure.h"
#include "page.h"

namespace exactbloom::sweep {
namespace {

std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// Escaped, with code between backticks.
std::string Sentence(const std::string& text) {
  std::string html;
  bool code = false;
  for (const char c : Escape(text)) {
    if (c != '`') {
      html += c;
      continue;
    }
    html += code ? "</code>" : "<code>";
    code = !code;
  }
  return html;
}

std::string CellHtml(const Cell& cell) {
  std::string classes = cell.value.is_string() ? "text" : "";
  std::string style;
  if (cell.colour >= 0) {
    classes += classes.empty() ? "colour" : " colour";
    style = fmt::format(" style=\"--curve:{}\"", CurveColour(cell.colour));
  }
  return fmt::format("<td{}{} data-value=\"{}\">{}</td>",
                     classes.empty() ? "" : fmt::format(" class=\"{}\"", classes), style,
                     Escape(cell.value.dump()), Escape(cell.text));
}

std::string TableHtml(const Table& table) {
  std::string html = fmt::format(
      "<p class=\"caption\" id=\"about-{0}\">{1}</p>\n<div class=\"scroll\"><table id=\"{0}\" "
      "aria-describedby=\"about-{0}\">\n<thead><tr>",
      table.id, Sentence(table.caption));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool text = !table.rows.empty() && table.rows.front()[i].value.is_string();
    html += fmt::format(
        "<th scope=\"col\" aria-sort=\"none\"{}><button type=\"button\">{}</button></th>",
        text ? " class=\"text\"" : "", Escape(table.columns[i]));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const Cell& cell : row) html += CellHtml(cell);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string SectionHtml(const Section& section) {
  std::string html =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, Sentence(section.title));
  for (const std::string& paragraph : section.paragraphs) {
    html += fmt::format("<p>{}</p>\n", Sentence(paragraph));
  }
  for (const Figure& figure : section.figures) {
    html += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", figure.svg,
                        Sentence(figure.caption));
  }
  for (const Table& table : section.tables) html += TableHtml(table);
  return html + "</section>\n";
}

}  // namespace

std::string HtmlPage(const Document& document) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n"
      "<p class=\"subtitle\">{}</p>\n<nav>",
      Escape(document.title), kStyle, Escape(document.title), Sentence(document.subtitle));
  for (const Section& section : document.sections) {
    html += fmt::format("<a href=\"#{}\">{}</a>", section.id, Sentence(section.title));
  }
  html += "</nav>\n<ul class=\"answers\">\n";
  for (const std::string& answer : document.answers) {
    html += fmt::format("<li>{}</li>\n", Sentence(answer));
  }
  html += "</ul>\n";
  for (const Section& section : document.sections) html += SectionHtml(section);
  return html + fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kScript);
}

}  // namespace exactbloom::sweep
