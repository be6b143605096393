// The frame of a program with a command line. Only the one source of it that has the command line
// includes this, since CLI11's templates take long to compile.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "errors.h"

namespace exactbloom::support {

// The command as it was given, for the report.
inline std::string CommandLine(const std::string& program, int argc, char** argv) {
  std::string command = program;
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  return command;
}

// Parses the arguments into what `app` was told and runs `run`, or prints the help that was asked
// for. Returns the exit status.
inline int RunProgram(CLI::App& app, int argc, char** argv, const std::function<void()>& run) {
  return ExitStatusOf(app.get_name(), [&] {
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& help) {
      app.exit(help);
      return;
    }
    run();
  });
}

}  // namespace exactbloom::support
