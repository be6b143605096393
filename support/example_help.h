// Help texts that begin with an example, in lines of at most 80 characters. Include it only where a
// command line is defined: CLI11's templates take long to compile.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace exactbloom::support {

class ExampleHelp : public CLI::Formatter {
 public:
  ExampleHelp() { KeepLinesOfFooter(*this, 0); }

  // The command lines of a subcommand that its help begins with.
  void AddExample(const std::string& subcommand, const std::string& lines) {
    examples_[subcommand] = lines;
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::string help = WithoutSpacesAtEnds(Formatter::make_help(app, std::move(name), mode));
    const auto example = examples_.find(app->get_name());
    if (example == examples_.end()) return help;
    std::string text = "Example:\n";
    std::istringstream lines(example->second);
    for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
    return text + "\n" + help;
  }

  std::string make_description(const CLI::App* app) const override {
    return InLines(Formatter::make_description(app), kWidth);
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return InLines(Formatter::make_option_desc(option), kWidth - get_column_width());
  }

  std::string make_subcommand(const CLI::App* subcommand) const override {
    const std::string indent(get_column_width(), ' ');
    const std::string name = "  " + subcommand->get_name();
    std::string text = name + indent.substr(std::min(name.size(), indent.size()));
    for (const char c : InLines(subcommand->get_description(), kWidth - indent.size())) {
      text += c;
      if (c == '\n') text += indent;
    }
    return text + "\n";
  }

 private:
  static constexpr std::size_t kWidth = 80;

  // CLI11 2.5 and later would join the footer's lines, which are laid out already.
  template <typename Formatter>
  static auto KeepLinesOfFooter(Formatter& formatter, int /*preferred*/)
      -> decltype(formatter.enable_footer_formatting(false)) {
    formatter.enable_footer_formatting(false);
  }
  template <typename Formatter>
  static void KeepLinesOfFooter(Formatter& /*earlier*/, long /*otherwise*/) {}

  static std::string WithoutSpacesAtEnds(const std::string& text) {
    std::string all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      all += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return all;
  }

  // The text with its line breaks, and more of them where a line would exceed the width.
  static std::string InLines(const std::string& text, std::size_t width) {
    std::string all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::size_t used = 0;
      for (std::string word; words >> word;) {
        if (used != 0) {
          const bool fits = used + 1 + word.size() <= width;
          all += fits ? " " : "\n";
          used = fits ? used + 1 : 0;
        }
        all += word;
        used += word.size();
      }
      if (!lines.eof()) all += "\n";
    }
    return all;
  }

  std::map<std::string, std::string> examples_;
};

}  // namespace exactbloom::support
