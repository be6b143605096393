#include "run_command.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace exactbloom::testing {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Outcome RunCommand(const std::string& command) {
  const TemporaryDirectory directory;
  const std::string out = directory.path("out");
  const std::string err = directory.path("err");
  Outcome outcome;
  const int raw = std::system(fmt::format("{} >{} 2>{} </dev/null", command, out, err).c_str());
  outcome.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  outcome.out = ReadFile(out);
  outcome.err = ReadFile(err);
  return outcome;
}

void ExpectRefusal(const Outcome& outcome, const std::string& words) {
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(Mentions(outcome.err, words));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace exactbloom::testing

namespace exactbloom {

::testing::AssertionResult Mentions(const std::string& text, const std::string& words) {
  if (text.find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << words << "\" is not in: " << text;
}

}  // namespace exactbloom
