// exactbloom: exact false-positive rates and sizes of Bloom filters. Each subcommand is a file.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "arguments.h"
#include "commands.h"
#include "exactbloom/version.h"

namespace {

constexpr int kBadInput = 2;

int Refuse(const char* message) {
  std::string line(message);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  line = line.substr(0, line.find('\n'));
  // Not by a function that throws when standard error cannot be written either.
  std::fputs(fmt::format("exactbloom: {}\n", line).c_str(), stderr);
  return kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app("Exact false-positive rates and sizes of Bloom filters.", "exactbloom");
    app.set_version_flag("--version", EXACTBLOOM_VERSION);
    app.require_subcommand(1);
    exactbloom::tool::AddRateCommand(app);
    exactbloom::tool::AddPlanCommand(app);
    exactbloom::tool::AddTableCommand(app);
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& help) {
      return app.exit(help);
    }
    if (std::fflush(stdout) != 0) return Refuse("standard output: cannot be written");
    return 0;
  } catch (const std::exception& error) {
    return Refuse(error.what());
  }
}
