// The tool, run as a user runs it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "run_command.h"

namespace exactbloom::testing {

// Runs `exactbloom` with these arguments of the shell, as the argument of the command `prefix`.
inline Outcome AskTool(const std::string& arguments, const std::string& prefix = "") {
  return RunCommand(fmt::format("{} {} {}", prefix, EXACTBLOOM_TOOL, arguments));
}

// The same with --json; expects this exit status.
inline nlohmann::json AskToolForJson(const std::string& arguments, int status = 0) {
  const Outcome outcome = AskTool(arguments + " --json");
  EXPECT_EQ(outcome.status, status) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

// The first group of each match.
inline std::set<std::string> FindAll(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

inline std::set<std::string> Subcommands() {
  const std::string help = AskTool("--help").out;
  // In capitals in newer versions of CLI11.
  const std::string list =
      help.substr(std::min(help.find("Subcommands:"), help.find("SUBCOMMANDS:")));
  return FindAll(list, R"(\n  ([a-z]+) )");
}

}  // namespace exactbloom::testing
