// filter_benchmark: how long building and querying a filter takes, compared with RocksDB's own.
//
// All filters of a run hold the same keys in the same memory and are measured in turn; the report
// has ratios. docs/performance.md says how to read them.
#include <CLI/CLI.hpp>

#include "benchmark_run.h"
#include "tool/support/argument_types.h"
#include "tool/support/run_program.h"

namespace exactbloom::filter_benchmark {
namespace {

using support::Count;

void DescribeArguments(CLI::App& app, BenchmarkSettings& settings) {
  app.option_defaults()->always_capture_default()->delimiter(',');
  app.add_option("--keys", settings.keys, "Keys per filter")->transform(Count(100, 1'000'000'000));
  app.add_option("--bits-per-key", settings.bits_per_key, "Filter bits per key")
      ->transform(support::Number(1.0, 100.0));
  app.add_option("--repetitions", settings.repetitions, "Of every comparison")
      ->transform(Count(1, 1000));
  app.add_option("--absent-queries", settings.load.absent_queries, "Of each filter's rate")
      ->transform(Count(1));
  app.add_option("--block-offset", settings.load.block_offset,
                 "Bytes from the start of a cache line to that of a filter block")
      ->transform(Count(0, 63));
  app.option_defaults()->always_capture_default(false);
  app.add_option("--layouts", settings.layouts, "Of these only");
  app.add_option("--kernels", settings.kernels, "Of these only");
  app.add_option("--operations", settings.operations, "Of these only");
  app.add_option("--peers", settings.peers, "Of these only");
  app.add_option("--json", settings.json_file, "Also write the ratios to this file");
}

int Main(int argc, char** argv) {
  BenchmarkSettings settings;
  CLI::App app("Compares the times to build and to query filters with RocksDB's own.",
               "filter_benchmark");
  DescribeArguments(app, settings);
  return support::RunProgram(app, argc, argv, [&] {
    RunBenchmark(settings, support::CommandLine("filter_benchmark", argc, argv));
  });
}

}  // namespace
}  // namespace exactbloom::filter_benchmark

int main(int argc, char** argv) { return exactbloom::filter_benchmark::Main(argc, argv); }
