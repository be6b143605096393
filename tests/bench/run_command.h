// Runs a program as a user does.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sample_database.h"

namespace exactbloom::testing {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

std::string ReadFile(const std::filesystem::path& path);

// Runs a command of the shell, without a terminal.
Outcome RunCommand(const std::string& command);

// Expects that a program refused its input: status 2, nothing printed, and one line on stderr that
// contains `words`.
void ExpectRefusal(const Outcome& outcome, const std::string& words);

}  // namespace exactbloom::testing

namespace exactbloom {

// Whether the text contains the words; a failure prints both.
::testing::AssertionResult Mentions(const std::string& text, const std::string& words);

}  // namespace exactbloom
