// exactbloom: what a Bloom filter will let through, and which filter to take.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "exactbloom/version.h"
#include "findings.h"
#include "subcommands.h"
#include "support/errors.h"
#include "support/progress.h"

namespace exactbloom::tool {
namespace {

constexpr const char* kFooter =
    "Whole numbers may be written as 1000000 or 1e6.\n"
    "Exit status: 0, answered; 1, answered, and something in the database is wrong; 2, the "
    "question\n"
    "has no answer or is not understood; 130, interrupted.";

int Main(int argc, char** argv) {
  CLI::App app("Exact false-positive rates of Bloom filters, and the filters that they call for.",
               "exactbloom");
  app.require_subcommand(1);
  app.set_version_flag("--version", EXACTBLOOM_VERSION);
  app.footer(kFooter);
  AddRate(app);
  AddPlan(app);
  AddTable(app);
  AddInspect(app);
  AddOverlap(app);
  AddVerify(app);
  AddAdvise(app);
  AddRebuild(app);
  support::WatchForInterrupts();
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) == 0) return 0;
    fmt::print(stderr, "exactbloom: standard output cannot be written\n");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "exactbloom: {}\n", error.what());
  } catch (const support::Interrupted&) {
    return support::kInterruptedStatus;
  } catch (const Findings& findings) {
    std::fflush(stdout);
    fmt::print(stderr, "exactbloom: {}\n", findings.what());
    return kFindingsStatus;
  } catch (const std::exception& error) {
    fmt::print(stderr, "exactbloom: {}\n", error.what());
  }
  return support::kInputErrorStatus;
}

}  // namespace
}  // namespace exactbloom::tool

int main(int argc, char** argv) { return exactbloom::tool::Main(argc, argv); }
