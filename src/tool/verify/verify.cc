// exactbloom verify: does every filter hold what it must, and let through what it should?
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "table_verification.h"
#include "tool/arguments.h"
#include "tool/database/database_files.h"
#include "tool/findings.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "verification_report.h"

namespace exactbloom::tool {
namespace {

constexpr int kMostThreads = 256;

struct Question {
  std::vector<std::string> paths;
  std::uint64_t absent = 10'000;
  std::uint64_t seed = 0;
  int threads = 1;
  bool json = false;
};

void Run(const Question& question) {
  const VerificationReport report(ReadTables<TableVerification>(
                                      question.paths, "asking filters",
                                      [&question](const TableLocation& table) {
                                        return VerifyTable(table, question.absent, question.seed);
                                      },
                                      question.threads)
                                      .tables);
  if (question.json) {
    PrintJson(report.Json());
  } else {
    fmt::print("{}", report.Text());
  }
  const std::string findings = report.Findings();
  if (!findings.empty()) throw Findings(findings);
}

}  // namespace

void AddVerify(CLI::App& app) {
  auto question = std::make_shared<Question>();
  CLI::App* verify = app.add_subcommand(
      "verify", "Ask every table's filter for all of its keys, and for keys that it lacks");
  AddDatabase(*verify, question->paths);
  AddCount(*verify, "--absent", question->absent, "Absent keys to ask of each table's filter")
      ->capture_default_str();
  AddCount(*verify, "--seed", question->seed, "Draws other absent keys")->capture_default_str();
  verify->add_option("--threads", question->threads, "Tables to read at a time")
      ->check(CLI::Range(1, kMostThreads))
      ->type_name("NUMBER")
      ->capture_default_str();
  verify->add_flag("--json", question->json, "Print JSON");
  verify->footer(
      "A key that its filter denies is a false negative: lookups do not find it. The table and\n"
      "the key are named, and the exit status is 1. It is 1 as well if a table could not be read\n"
      "or its filter not be asked.\n"
      "Of the absent keys half are present keys with one byte changed, half are random. The\n"
      "interval is that of the measured rate: with a confidence of 99.9% it holds the exact one.\n"
      "It allows for the chance in the keys and in each filter's fill.\n"
      "The database may be in use; nothing is written.\n"
      "Example: exactbloom verify /var/lib/db --absent 1e5 --threads 2");
  verify->callback([question] { Run(*question); });
}

}  // namespace exactbloom::tool
