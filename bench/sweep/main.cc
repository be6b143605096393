// readamp_sweep: readamp at every number of bits per key, for every policy. Adds the points that a
// results file lacks; scripts/report makes figures and a page of them. docs/report.md says how.
#include <CLI/CLI.hpp>

#include "exactbloom/filter_policy.h"
#include "measure.h"
#include "readamp/readamp_arguments.h"
#include "support/argument_types.h"
#include "support/run_program.h"

namespace exactbloom::sweep {
namespace {

using support::Count;
using support::Number;

void DescribeSweep(CLI::App& app, SweepSettings& settings) {
  app.option_defaults()->always_capture_default();
  app.add_option("--results", settings.results,
                 "Add the results to this file; a stopped sweep continues from it");
  app.add_option("--policies", settings.policies,
                 "Filter policies as in filter_policy=, separated by commas, with {bits} or "
                 "{equal_bytes} in place of numbers")
      ->delimiter(',')
      ->check(support::NotEmpty());
  app.add_option("--trees", settings.trees,
                 "large (a table per sorted run), partitioned (filters of 4 KiB, as RocksDB makes "
                 "them unless told otherwise), small_partitions (of 512 bytes)")
      ->delimiter(',');
  app.add_option("--least-bits", settings.least_bits, "The first number of bits per key")
      ->transform(Number());
  app.add_option("--most-bits", settings.most_bits, "The last one")->transform(Number());
  app.add_option("--step", settings.step, "From one number of bits per key to the next")
      ->transform(Number());
  app.add_option("--repetitions", settings.repetitions,
                 "Repetitions of the lookups and of the builds, for the spread of their times")
      ->transform(Count(1, 100));
  app.add_option("--read-latencies", settings.read_latencies_us,
                 "Also look up with reads delayed by this many microseconds, to check the model")
      ->delimiter(',')
      ->transform(Number(0.0));
  app.add_option("--sizing-queries", settings.sizing_queries,
                 "Queries per point for the value of exact sizing; 0: leave this out")
      ->transform(Count());
}

void DescribeWorkload(CLI::App& app, readamp::ReadampSettings& readamp) {
  DescribeKeys(app, readamp);
  app.add_option("--lookups", readamp.lookups, "Lookups of absent keys")->transform(Count(1));
  app.add_option("--sorted-runs", readamp.sorted_runs, "Levels of the tree")
      ->transform(Count(1, 8));
  app.add_option("--size-ratio", readamp.size_ratio, "How many times larger each level is")
      ->transform(Count(2, 100));
  app.add_option("--value-bytes", readamp.value_bytes, "Bytes per value")
      ->transform(Count(0, 1 << 20));
  app.add_option("--threads", readamp.threads, "Threads that look up keys")
      ->transform(Count(1, 64));
  app.add_option("--directory", readamp.directory, "Where the databases are made and removed");
  app.add_option("--seed", readamp.seed, "Seed of every random choice")->transform(Count());
}

int Main(int argc, char** argv) {
  SweepSettings settings;
  // Every wasted read must be counted, and threads must not disturb each other's processor time.
  // The report models the device's latency, so the machine's own may be left to the page cache.
  settings.readamp.direct_reads = false;
  settings.readamp.block_cache_bytes = 1;
  settings.readamp.threads = 1;
  CLI::App app("Measures filter policies over a range of bits per key.", "readamp_sweep");
  DescribeSweep(app, settings);
  DescribeWorkload(app, settings.readamp);
  return support::RunProgram(app, argc, argv, [&] {
    RegisterFilterPolicies();
    Measure(settings, support::CommandLine("readamp_sweep", argc, argv));
  });
}

}  // namespace
}  // namespace exactbloom::sweep

int main(int argc, char** argv) { return exactbloom::sweep::Main(argc, argv); }
