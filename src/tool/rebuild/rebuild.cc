// exactbloom rebuild: gives the tables the filters that the current policy would build.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "exactbloom/rebuild_filters.h"
#include "open_database.h"
#include "support/errors.h"
#include "support/progress.h"
#include "tool/database/database_files.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

std::string TablesOf(std::uint64_t tables, std::uint64_t bytes) {
  return fmt::format("{}, {} bytes", Counted(tables, "table"), bytes);
}

// A bar on a terminal, otherwise one line per step.
class RebuildProgress {
 public:
  RebuildProgress() { bar_.Begin("reading filters", 0); }

  void Show(const RebuildResult& result) {
    if (result.rewritten_tables == rewritten_tables_) return;
    if (rewritten_tables_ == 0) bar_.Begin("rewriting tables", result.lacking_bytes);
    bar_.Add(result.rewritten_bytes - rewritten_bytes_);
    rewritten_tables_ = result.rewritten_tables;
    rewritten_bytes_ = result.rewritten_bytes;
    if (bar_.IsOnTerminal()) return;
    fmt::print(stderr, "rewritten: {}, of {}\n", TablesOf(rewritten_tables_, rewritten_bytes_),
               TablesOf(result.lacking_tables, result.lacking_bytes));
  }

 private:
  support::Progress bar_;
  std::uint64_t rewritten_tables_ = 0;
  std::uint64_t rewritten_bytes_ = 0;
};

nlohmann::json JsonOf(const RebuildResult& result, bool dry_run, bool interrupted) {
  return {{"dry_run", dry_run},
          {"interrupted", interrupted},
          {"tables", result.tables},
          {"bytes", result.bytes},
          {"lacking_tables", result.lacking_tables},
          {"lacking_bytes", result.lacking_bytes},
          {"rewritten_tables", result.rewritten_tables},
          {"rewritten_bytes", result.rewritten_bytes},
          {"written_bytes", result.written_bytes},
          {"gone_tables", result.gone_tables},
          {"still_lacking_tables", result.still_lacking_tables},
          {"remaining_tables", result.remaining_tables},
          {"remaining_bytes", result.remaining_bytes},
          {"busy_tables", result.busy_tables},
          {"too_large_tables", result.too_large_tables},
          {"damaged_files", result.damaged_files}};
}

void PrintText(const RebuildResult& result, bool dry_run, bool interrupted) {
  const auto line = [](const char* what, const std::string& tables) {
    fmt::print("{:<12}{}\n", what, tables);
  };
  line("looked at", TablesOf(result.tables, result.bytes));
  line("to rewrite", TablesOf(result.lacking_tables, result.lacking_bytes));
  if (!dry_run) {
    line("rewritten",
         fmt::format("{}, now {} bytes", TablesOf(result.rewritten_tables, result.rewritten_bytes),
                     result.written_bytes));
    line("remaining", TablesOf(result.remaining_tables, result.remaining_bytes));
  }
  const auto say = [](std::uint64_t tables, const char* what) {
    if (tables != 0) fmt::print("{} {}\n", tables, what);
  };
  say(result.busy_tables, "held by a compaction");
  say(result.too_large_tables, "larger than --max-bytes");
  say(result.still_lacking_tables, "written without the wanted filter");
  for (const std::string& file : result.damaged_files) fmt::print("damaged: {}\n", file);
  if (interrupted) fmt::print("Interrupted. The same command continues with what remains.\n");
}

RebuildResult Rebuild(const RebuildArguments& arguments) {
  OpenDatabase database(arguments.path, arguments.policy, arguments.dry_run);
  RebuildProgress progress;
  RebuildOptions options;
  options.column_families = database.families();
  options.max_bytes = arguments.max_bytes;
  options.bytes_per_second = arguments.bytes_per_second;
  options.dry_run = arguments.dry_run;
  options.cancel = &support::InterruptFlag();
  options.progress = [&progress](const RebuildResult& result) { progress.Show(result); };
  RebuildResult result;
  const rocksdb::Status status = RebuildFilters(database.db(), options, &result);
  if (!status.ok()) {
    throw support::InputError(fmt::format("stopped after {}: {}",
                                          TablesOf(result.rewritten_tables, result.rewritten_bytes),
                                          tool::Describe(status)));
  }
  return result;
}

}  // namespace

void RunRebuild(const RebuildArguments& arguments) {
  const RebuildResult result = Rebuild(arguments);
  const bool interrupted = support::InterruptArrived();
  if (arguments.json) {
    PrintJson(JsonOf(result, arguments.dry_run, interrupted));
  } else {
    PrintText(result, arguments.dry_run, interrupted);
  }
  std::fflush(stdout);
  if (interrupted) throw support::Interrupted();
  if (!result.damaged_files.empty()) {
    const std::size_t files = result.damaged_files.size();
    throw support::Findings(
        fmt::format("{} damaged {}", files,
                    files == 1 ? "file is left as it is" : "files are left as they are"));
  }
  if (result.still_lacking_tables != 0) {
    throw support::Findings(fmt::format("{} tables were written without the wanted filter",
                                        result.still_lacking_tables));
  }
}

}  // namespace exactbloom::tool
