// Parses a program's command line and runs it. Include it only where the command line is defined:
// CLI11's templates take long to compile.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "errors.h"
#include "nearest_name.h"

namespace exactbloom::support {

// The command as it was given, for the report.
inline std::string CommandLine(const std::string& program, int argc, char** argv) {
  std::string command = program;
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  return command;
}

// Throws InputError if the first word is not one of the program's subcommands, if it has any. CLI11
// would only report that one is required.
inline void CheckSubcommand(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(subcommand->get_name());
  }
  if (names.empty()) return;
  const std::string first = argc > 1 ? argv[1] : "";
  if (first.empty()) {
    throw InputError(fmt::format("a subcommand is required: {}\n\n{}", fmt::join(names, ", "),
                                 app.get_footer()));
  }
  if (first[0] == '-' || std::find(names.begin(), names.end(), first) != names.end()) return;
  throw InputError(fmt::format("unknown subcommand {}{}", first, WhatWasMeant(first, names)));
}

// The long names of an app's options, and of those in its groups.
inline void AddOptionNames(const CLI::App& app, std::vector<std::string>* names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names->push_back("--" + name);
  }
  const auto is_group = [](const CLI::App* part) { return part->get_name().empty(); };
  for (const CLI::App* group : app.get_subcommands(is_group)) AddOptionNames(*group, names);
}

// An error of CLI11 in plainer words.
inline std::string Reworded(const std::string& message) {
  std::smatch match;
  if (std::regex_match(message, match, std::regex("(.*): 1 required .* missing"))) {
    return fmt::format("{} needs a value", match[1].str());
  }
  if (std::regex_match(message, match, std::regex(R"(([A-Z].*) options? .*\[(.*)\](.*))"))) {
    const std::string names = std::regex_replace(match[2].str(), std::regex(","), ", ");
    const bool are_too_many = match[1].str().find("most") != std::string::npos ||
                              match[3].str().find("given") != std::string::npos;
    return are_too_many ? fmt::format("only one of {} can be given", names)
                        : fmt::format("one of {} is required", names);
  }
  return message;
}

// Describes what is wrong with the command line, in one line. Unexpected words come first: another
// option may seem to be missing because of them.
inline std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* parsed = &app;
  if (!app.get_subcommands().empty()) parsed = app.get_subcommands().front();
  const std::string where = parsed == &app ? "" : parsed->get_name() + ": ";
  const std::vector<std::string> unexpected = app.remaining(/*recurse=*/true);
  if (unexpected.empty()) return where + Reworded(error.what());
  const std::string& word = unexpected.front();
  if (word.empty() || word[0] != '-') {
    return fmt::format("{}unexpected argument '{}'", where, word);
  }
  std::vector<std::string> names;
  AddOptionNames(*parsed, &names);
  const std::string option = word.substr(0, word.find('='));
  const std::string nearest = NearestName(option, names);
  return fmt::format("{}unknown option {}{}", where, option,
                     nearest.empty() ? "" : fmt::format(": did you mean {}?", nearest));
}

// Parses the arguments and runs `run`, or prints the help. Returns the exit status.
inline int RunProgram(CLI::App& app, int argc, char** argv, const std::function<void()>& run) {
  return ExitStatusOf(app.get_name(), [&] {
    CheckSubcommand(app, argc, argv);
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& help) {
      app.exit(help);
      return;
    } catch (const CLI::ParseError& error) {
      throw InputError(WhatIsWrong(app, error));
    }
    run();
  });
}

}  // namespace exactbloom::support
