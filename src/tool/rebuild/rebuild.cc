// exactbloom rebuild: gives the tables the filters that the current policy would build.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "exactbloom/rebuild_filters.h"
#include "support/errors.h"
#include "support/progress.h"
#include "tool/database/database_files.h"
#include "tool/database/open_database.h"
#include "tool/findings.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

struct Question {
  std::string path;
  std::string policy;
  std::uint64_t bytes_per_second = 0;
  std::uint64_t max_bytes = 0;
  bool dry_run = false;
  bool json = false;
};

// Sets a flag when the user asks to stop, for as long as this object lives.
class StopWatch {
 public:
  StopWatch() {
    watcher_ = std::thread([this] {
      constexpr auto kInterval = std::chrono::milliseconds(50);
      for (; !done_; std::this_thread::sleep_for(kInterval)) {
        if (support::InterruptArrived()) stop_ = true;
      }
    });
  }
  ~StopWatch() {
    done_ = true;
    watcher_.join();
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  const std::atomic<bool>& stop() const { return stop_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<bool> done_{false};
  std::thread watcher_;
};

std::string Tables(std::uint64_t tables, std::uint64_t bytes) {
  return fmt::format("{} table{}, {} bytes", tables, tables == 1 ? "" : "s", bytes);
}

// A bar on a terminal, a line for each step elsewhere.
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
    fmt::print(stderr, "rewritten: {}, of {}\n", Tables(rewritten_tables_, rewritten_bytes_),
               Tables(result.lacking_tables, result.lacking_bytes));
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
  line("looked at", Tables(result.tables, result.bytes));
  line("to rewrite", Tables(result.lacking_tables, result.lacking_bytes));
  if (!dry_run) {
    line("rewritten",
         fmt::format("{}, now {} bytes", Tables(result.rewritten_tables, result.rewritten_bytes),
                     result.written_bytes));
    line("remaining", Tables(result.remaining_tables, result.remaining_bytes));
  }
  const auto say = [](std::uint64_t tables, const char* what) {
    if (tables != 0) fmt::print("{} {}\n", tables, what);
  };
  say(result.busy_tables, "held by a compaction");
  say(result.too_large_tables, "larger than --max-bytes");
  say(result.still_lacking_tables, "written without the wanted filter");
  for (const std::string& file : result.damaged_files) fmt::print("damaged: {}\n", file);
  if (interrupted) fmt::print("Interrupted. The same command goes on with what remains.\n");
}

void Report(const Question& question, const RebuildResult& result, bool interrupted) {
  if (question.json) return PrintJson(JsonOf(result, question.dry_run, interrupted));
  PrintText(result, question.dry_run, interrupted);
}

RebuildResult Rebuild(const Question& question) {
  OpenDatabase database(question.path, question.policy, question.dry_run);
  const StopWatch watch;
  RebuildProgress progress;
  RebuildOptions options;
  options.column_families = database.families();
  options.max_bytes = question.max_bytes;
  options.bytes_per_second = question.bytes_per_second;
  options.dry_run = question.dry_run;
  options.cancel = &watch.stop();
  options.progress = [&progress](const RebuildResult& result) { progress.Show(result); };
  RebuildResult result;
  const rocksdb::Status status = RebuildFilters(database.db(), options, &result);
  if (!status.ok()) {
    throw support::InputError(fmt::format("stopped after {}: {}",
                                          Tables(result.rewritten_tables, result.rewritten_bytes),
                                          tool::Describe(status)));
  }
  return result;
}

void Run(const Question& question) {
  const RebuildResult result = Rebuild(question);
  const bool interrupted = support::InterruptArrived();
  Report(question, result, interrupted);
  std::fflush(stdout);
  if (interrupted) throw support::Interrupted();
  if (!result.damaged_files.empty()) {
    const std::size_t files = result.damaged_files.size();
    throw Findings(
        fmt::format("{} damaged {}", files,
                    files == 1 ? "file is left as it is" : "files are left as they are"));
  }
  if (result.still_lacking_tables != 0) {
    throw Findings(fmt::format("{} tables were written without the wanted filter",
                               result.still_lacking_tables));
  }
}

void AddBytes(CLI::App& app, const std::string& name, std::uint64_t& value,
              const std::string& description) {
  app.add_option(name, value, description)->transform(CLI::AsSizeValue(false))->type_name("BYTES");
}

constexpr const char* kFooter =
    "The database is opened for writing, with the options of its OPTIONS file; another process\n"
    "must not have it open. --policy replaces the filter policy in them for all column families,\n"
    "and opening writes it into the new OPTIONS file. With --dry-run nothing is written, and the\n"
    "database may be in use.\n"
    "Tables whose filter is of the wanted family, kind and lines are left. Each of the others is\n"
    "rewritten within its level. Ctrl-C stops after the table at hand; the same command goes on\n"
    "with what remains. Bytes may be written as 50M or 2G, of 1024.\n"
    "\n"
    "Examples:\n"
    "  exactbloom rebuild --dry-run --policy classic_bloom:10 /var/lib/service/db\n"
    "  exactbloom rebuild --rate 50M --max-bytes 10G /var/lib/service/db\n"
    "\n"
    "Exit status: 0, done, or as much as --max-bytes allows; 1, some tables are damaged; 2, the\n"
    "database cannot be opened or written; 130, interrupted.";

}  // namespace

void AddRebuild(CLI::App& app) {
  auto question = std::make_shared<Question>();
  CLI::App* rebuild =
      app.add_subcommand("rebuild", "Rewrite the tables that lack their policy's filter");
  rebuild->add_option("PATH", question->path, "A database's directory")->required()->type_name("");
  rebuild->add_option("--policy", question->policy, "Another filter policy, as classic_bloom:10")
      ->type_name("POLICY");
  AddBytes(*rebuild, "--rate", question->bytes_per_second, "Bytes of tables to rewrite a second");
  AddBytes(*rebuild, "--max-bytes", question->max_bytes, "Bytes of tables to rewrite in all");
  rebuild->add_flag("--dry-run", question->dry_run, "Only say what would be rewritten");
  rebuild->add_flag("--json", question->json, "Print JSON");
  rebuild->footer(kFooter);
  rebuild->callback([question] { Run(*question); });
}

}  // namespace exactbloom::tool
