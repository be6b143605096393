// The tool, run as a user runs it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
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

}  // namespace exactbloom::testing
