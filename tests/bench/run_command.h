// Runs a program as a user does.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sample_database.h"

namespace exactbloom {

// Whether the text contains the words; a failure prints both.
inline ::testing::AssertionResult Mentions(const std::string& text, const std::string& words) {
  if (text.find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << words << "\" is not in: " << text;
}

}  // namespace exactbloom

namespace exactbloom::testing {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Runs a command of the shell, without a terminal.
inline Outcome RunCommand(const std::string& command) {
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

// Expects that a program refused its input: status 2, nothing printed, and one line on stderr that
// contains `words`.
inline void ExpectRefusal(const Outcome& outcome, const std::string& words) {
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(Mentions(outcome.err, words));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace exactbloom::testing
