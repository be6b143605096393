// Help texts that begin with an example, in lines of at most 80 characters. Include it only where a
// command line is defined: CLI11's templates take long to compile.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace exactbloom::support {

class ExampleHelp : public CLI::Formatter {
 public:
  // The command lines of a subcommand that its help begins with.
  void AddExample(const std::string& subcommand, const std::string& lines) {
    examples_[subcommand] = lines;
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::string help = Formatter::make_help(app, std::move(name), mode);
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
    std::ostringstream text;
    CLI::detail::format_help(text, subcommand->get_name(),
                             InLines(subcommand->get_description(), kWidth - get_column_width()),
                             get_column_width());
    return text.str();
  }

 private:
  static constexpr std::size_t kWidth = 80;

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
