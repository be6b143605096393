#include "tool_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace exactbloom::testing {

Outcome AskTool(const std::string& arguments, const std::string& prefix) {
  return RunCommand(fmt::format("{} {} {}", prefix, EXACTBLOOM_TOOL, arguments));
}

nlohmann::json AskToolForJson(const std::string& arguments, int status) {
  const Outcome outcome = AskTool(arguments + " --json");
  EXPECT_EQ(outcome.status, status) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

}  // namespace exactbloom::testing
