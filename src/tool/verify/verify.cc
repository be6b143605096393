// exactbloom verify: whether every filter holds its keys, and has the right rate.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/errors.h"
#include "table_verification.h"
#include "tool/database/database_files.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "verification_report.h"

namespace exactbloom::tool {

void RunVerify(const VerifyArguments& arguments) {
  const VerificationReport report(ReadTables<TableVerification>(
                                      arguments.paths, "asking filters",
                                      [&arguments](const TableLocation& table) {
                                        return VerifyTable(table, arguments.absent, arguments.seed);
                                      },
                                      arguments.threads)
                                      .tables);
  if (arguments.json) {
    PrintJson(report.Json());
  } else {
    fmt::print("{}", report.Text());
  }
  const std::string findings = report.Findings();
  if (!findings.empty()) throw support::Findings(findings);
}

}  // namespace exactbloom::tool
