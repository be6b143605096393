// exactbloom: what a Bloom filter will let through, and which filter to take.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "exactbloom/version.h"
#include "report/errors.h"
#include "subcommands.h"

namespace exactbloom::tool {
namespace {

constexpr const char* kFooter =
    "Whole numbers may be written as 1000000 or 1e6.\n"
    "Exit status: 0, answered; 2, the question has no answer or is not understood.";

int Main(int argc, char** argv) {
  CLI::App app("Exact false-positive rates of Bloom filters, and the filters that they call for.",
               "exactbloom");
  app.require_subcommand(1);
  app.set_version_flag("--version", EXACTBLOOM_VERSION);
  app.footer(kFooter);
  AddRate(app);
  AddPlan(app);
  AddTable(app);
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) == 0) return 0;
    fmt::print(stderr, "exactbloom: standard output cannot be written\n");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "exactbloom: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "exactbloom: {}\n", error.what());
  }
  return bench::kInputErrorStatus;
}

}  // namespace
}  // namespace exactbloom::tool

int main(int argc, char** argv) { return exactbloom::tool::Main(argc, argv); }
