// exactbloom inspect: the filters of a database's tables, and their rates.
#include <fmt/format.h>

#include "inspect_report.h"
#include "support/errors.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {

void RunInspect(const InspectArguments& arguments) {
  const Inspection inspection = Inspect(arguments.paths);
  if (arguments.json) {
    PrintJson(ToJson(inspection));
  } else {
    fmt::print("{}", FormatInspection(inspection, !arguments.summary));
  }
  const std::uint64_t unreadable = inspection.totals.unreadable;
  if (unreadable != 0) {
    throw support::Findings(
        fmt::format("{} of {} tables cannot be read", unreadable, inspection.totals.tables));
  }
}

}  // namespace exactbloom::tool
