// Runs a program as a user does.
#pragma once

#include <filesystem>
#include <string>

namespace exactbloom::testing {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

std::string ReadFile(const std::filesystem::path& path);

// A new directory, which the caller removes.
std::filesystem::path MakeTemporaryDirectory();

// Runs a command of the shell, without a terminal, and keeps what it prints in files of
// `directory`.
Outcome RunCommand(const std::string& command, const std::filesystem::path& directory);

// Expects that a program refused its input: status 2, nothing printed, and one line on stderr that
// contains `words`.
void ExpectRefusal(const Outcome& outcome, const std::string& words);

}  // namespace exactbloom::testing
