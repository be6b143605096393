// exactbloom inspect: which filters do a database's tables have, and what do they let through?
#include <fmt/format.h>

#include <memory>

#include "inspect_report.h"
#include "tool/arguments.h"
#include "tool/findings.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

struct Question {
  std::vector<std::string> paths;
  bool summary = false;
  bool json = false;
};

void Run(const Question& question) {
  const Inspection inspection = Inspect(question.paths);
  if (question.json) {
    PrintJson(ToJson(inspection));
  } else {
    fmt::print("{}", FormatInspection(inspection, !question.summary));
  }
  const std::uint64_t unreadable = inspection.totals.unreadable;
  if (unreadable != 0) {
    throw Findings(
        fmt::format("{} of {} tables cannot be read", unreadable, inspection.totals.tables));
  }
}

constexpr const char* kFooter =
    "A filter's exact rate follows from its bits, keys and probes, and is a mean over hash "
    "functions;\n"
    "\"given fill\" is the rate of this very filter, from the bits that are set in it. \"keys by "
    "fill\"\n"
    "is estimated from those bits, and marked with ! where it is too far from the table's own "
    "count\n"
    "to be chance. Wasted reads: tables read for an absent key within their ranges.\n"
    "Nothing is written, and the database may be in use: its tables are found in its MANIFEST.\n"
    "\n"
    "Examples:\n"
    "  exactbloom inspect /var/lib/service/db\n"
    "  exactbloom inspect --summary /var/lib/service/db\n"
    "  exactbloom inspect --json 000123.sst 000124.sst\n"
    "\n"
    "Exit status: 0; 1, some tables cannot be read, and the rest was printed; 2, no database.";

}  // namespace

void AddInspect(CLI::App& app) {
  auto question = std::make_shared<Question>();
  CLI::App* inspect = app.add_subcommand(
      "inspect",
      "The filters of a database's tables: their kind, rate, fill, and whether they are used");
  AddDatabase(*inspect, question->paths);
  inspect->add_flag("--summary", question->summary, "Levels only, no line a table");
  inspect->add_flag("--json", question->json, "Print JSON");
  inspect->footer(kFooter);
  inspect->callback([question] { Run(*question); });
}

}  // namespace exactbloom::tool
