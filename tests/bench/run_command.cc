#include "run_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace exactbloom::testing {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

fs::path MakeTemporaryDirectory() {
  std::string path = (fs::temp_directory_path() / "exactbloom_test-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary directory");
  return path;
}

Outcome RunCommand(const std::string& command, const fs::path& directory) {
  const fs::path out = directory / "out";
  const fs::path err = directory / "err";
  Outcome outcome;
  const int raw = std::system(
      fmt::format("{} >{} 2>{} </dev/null", command, out.string(), err.string()).c_str());
  outcome.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  outcome.out = ReadFile(out);
  outcome.err = ReadFile(err);
  return outcome;
}

void ExpectRefusal(const Outcome& outcome, const std::string& words) {
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace exactbloom::testing
