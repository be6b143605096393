// filter_benchmark: how long building and querying a filter takes, compared with RocksDB's own.
//
// All filters of a run hold the same keys in the same memory and are measured in turn; the report
// has ratios. docs/performance.md says how to read them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "benchmark_report.h"
#include "benchmark_settings.h"
#include "fixed_cost.h"
#include "selection.h"
#include "support/output_file.h"
#include "support/run_program.h"

namespace exactbloom::filter_benchmark {
namespace {

constexpr std::uint64_t kKeysOfFullRun = 100'000'000;

void DescribeArguments(CLI::App& app, Settings& settings) {
  app.option_defaults()->always_capture_default()->delimiter(',');
  app.add_option("--keys", settings.keys, "Keys per filter")
      ->check(CLI::Range(std::uint64_t{100}, std::uint64_t{1'000'000'000}));
  app.add_option("--bits-per-key", settings.bits_per_key, "Filter bits per key")
      ->check(CLI::Range(1.0, 100.0));
  app.add_option("--repetitions", settings.repetitions, "Of every comparison")
      ->check(CLI::Range(1, 1000));
  app.add_option("--absent-queries", settings.absent_queries, "Of each filter's rate")
      ->check(CLI::PositiveNumber);
  app.add_option("--block-offset", settings.block_offset,
                 "Bytes from the start of a cache line to that of a filter block")
      ->check(CLI::Range(0, 63));
  app.option_defaults()->always_capture_default(false);
  app.add_option("--layouts", settings.layouts, "Of these only");
  app.add_option("--kernels", settings.kernels, "Of these only");
  app.add_option("--operations", settings.operations, "Of these only");
  app.add_option("--peers", settings.peers, "Of these only");
  app.add_option("--json", settings.json_file, "Also write the ratios to this file");
  app.add_flag("--full", settings.full,
               "Filters of 100 million keys as well, and every build: some hours, 3 GB");
  app.add_flag("!--no-fixed-costs", settings.fixed_costs, "Leave hashing and sizing out");
}

void Measure(Settings settings, const std::string& command) {
  if (settings.full) settings.keys.push_back(kKeysOfFullRun);
  const Selection selection(settings);
  std::unique_ptr<support::OutputFile> json_file;
  if (!settings.json_file.empty()) {
    json_file = std::make_unique<support::OutputFile>(settings.json_file);
  }

  Report report;
  report.command = command;
  report.missing_peer = selection.missing_peer;
  report.kernels = selection.kernels;
  report.repetitions = settings.repetitions;
  report.block_offset = settings.block_offset;
  Progress progress;
  for (const std::uint64_t keys : settings.keys) {
    for (const double bits_per_key : settings.bits_per_key) {
      MeasureSize(settings, selection, keys, bits_per_key, report, progress);
    }
  }
  if (settings.fixed_costs) {
    progress.Begin("hashing and sizing", 0);
    report.fixed_costs = MeasureFixedCosts();
  }
  progress.End();

  fmt::print("{}", report.Text());
  if (json_file) json_file->Commit(report.Json().dump(2) + "\n");
}

int Main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Compares the times to build and to query filters with RocksDB's own.",
               "filter_benchmark");
  DescribeArguments(app, settings);
  return support::RunProgram(app, argc, argv, [&] {
    Measure(settings, support::CommandLine("filter_benchmark", argc, argv));
  });
}

}  // namespace
}  // namespace exactbloom::filter_benchmark

int main(int argc, char** argv) { return exactbloom::filter_benchmark::Main(argc, argv); }
