// exactbloom inspect: the filters of a database's tables, and their rates.
#include "inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "page.h"
#include "support/errors.h"
#include "tool/output.h"

namespace exactbloom::tool {

namespace {

namespace fs = std::filesystem;

// Whether the file would be in one of the directories, or below.
bool IsWithin(const fs::path& file, const std::vector<std::string>& directories) {
  const fs::path place = fs::weakly_canonical(fs::absolute(file)).parent_path();
  return std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
    const fs::path database = fs::weakly_canonical(fs::absolute(directory));
    return std::mismatch(database.begin(), database.end(), place.begin(), place.end()).first ==
           database.end();
  });
}

void WritePage(const Inspection& inspection, const InspectArguments& arguments) {
  const std::string& path = arguments.html;
  if (inspection.database.empty()) {
    throw support::InputError("--html takes a database: single files have no lookups");
  }
  if (IsWithin(path, arguments.paths)) {
    throw support::InputError(
        fmt::format("--html {}: nothing is written into a database's directory", path));
  }
  AdviseArguments advise;
  advise.present = 0.0;  // as the inspection
  std::ofstream file(path, std::ios::binary);
  file << FormatPage(inspection, AdviseOn(inspection, ReadInfoLog(inspection.database), advise));
  file.close();
  if (!file) throw support::InputError(fmt::format("--html {}: it cannot be written", path));
  fmt::print("{}", Wrapped(fmt::format("The page is in {}.", path)));
}

}  // namespace

void RunInspect(const InspectArguments& arguments) {
  const Inspection inspection =
      Inspect(arguments.paths, arguments.lookups.keys, arguments.column_family);
  if (arguments.prometheus && inspection.database.empty()) {
    throw support::InputError("--prometheus takes a database: single files have no lookups");
  }
  if (!arguments.html.empty()) {
    WritePage(inspection, arguments);
  } else if (arguments.prometheus) {
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
        fmt::format("{} of {} cannot be read", totals.unreadable, Counted(totals.tables, "table")));
  }
  if (totals.with_empty_partitions != 0) {
    findings.push_back(fmt::format("{} of {} tables have empty filter partitions",
                                   totals.with_empty_partitions, totals.tables));
  }
  if (arguments.fails_on_unfiltered && HasUnfiltered(totals)) {
    findings.push_back(fmt::format("{} of {} tables have no working filter",
                                   totals.tables - totals.filtering - totals.without_keys,
                                   totals.tables));
  }
  if (inspection.options_unreadable) findings.push_back(inspection.no_options_reason);
  if (!findings.empty()) throw support::Findings(fmt::format("{}", fmt::join(findings, "; ")));
}

}  // namespace exactbloom::tool
