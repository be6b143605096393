// The tool, run as a user runs it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "run_command.h"

namespace exactbloom::testing {

// Runs `exactbloom` with these arguments of the shell, as the argument of the command `prefix`.
Outcome AskTool(const std::string& arguments, const std::string& prefix = "");

// The same with --json; expects this exit status.
nlohmann::json AskToolForJson(const std::string& arguments, int status = 0);

}  // namespace exactbloom::testing
