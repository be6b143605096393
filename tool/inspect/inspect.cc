// exactbloom inspect: the filters of a database's tables, and their rates.
#include "inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tool/output.h"
#include "tool/support/errors.h"

namespace exactbloom::tool {

void RunInspect(const InspectArguments& arguments) {
  const Inspection inspection =
      Inspect(arguments.paths, arguments.lookups.keys, arguments.column_family);
  if (arguments.prometheus && inspection.database.empty()) {
    throw support::InputError("--prometheus takes a database: single files have no lookups");
  }
  if (arguments.prometheus) {
    fmt::print("{}", MetricsOf(inspection));
  } else if (arguments.json) {
    PrintJson(ToJson(inspection));
  } else {
    fmt::print("{}", FormatInspection(inspection, arguments));
  }
  const FilterSummary& totals = inspection.totals;
  std::vector<std::string> findings;
  if (totals.unreadable != 0) {
    findings.push_back(
        fmt::format("{} of {} tables cannot be read", totals.unreadable, totals.tables));
  }
  if (totals.with_empty_partitions != 0) {
    findings.push_back(fmt::format("{} of {} tables have empty filter partitions",
                                   totals.with_empty_partitions, totals.tables));
  }
  if (inspection.options_unreadable) findings.push_back(inspection.no_options_reason);
  if (!findings.empty()) throw support::Findings(fmt::format("{}", fmt::join(findings, "; ")));
}

}  // namespace exactbloom::tool
