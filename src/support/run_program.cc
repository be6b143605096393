#include "run_program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "errors.h"
#include "progress.h"

namespace exactbloom::support {

std::string CommandLine(const std::string& program, int argc, char** argv) {
  std::string command = program;
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  return command;
}

int RunProgram(CLI::App& app, int argc, char** argv, const std::function<void()>& measure) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    return kInputErrorStatus;
  }
  try {
    WatchForInterrupts();
    measure();
    return 0;
  } catch (const WrongAnswer& error) {
    fmt::print(stderr, "{}: no report, because an answer was wrong: {}\n", app.get_name(),
               error.what());
    return kWrongAnswerStatus;
  } catch (const Interrupted&) {
    return kInterruptedStatus;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    return kInputErrorStatus;
  }
}

}  // namespace exactbloom::support
