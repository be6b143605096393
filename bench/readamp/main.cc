// readamp: how many disk reads does each filter policy avoid, on real keys, in RocksDB?
//
// For each policy it loads the same keys into a new database, makes the same lookups, and counts.
// docs/readamp.md says what is measured and how to read it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bloom_table.h"
#include "database.h"
#include "exactbloom/filter_policy.h"
#include "key_set.h"
#include "prediction.h"
#include "report.h"
#include "report/machine.h"
#include "report/output_file.h"
#include "report/progress.h"
#include "report/run_program.h"
#include "settings.h"
#include "workload.h"

namespace exactbloom::readamp {
namespace {

void DescribeArguments(CLI::App& app, Settings& settings) {
  app.option_defaults()->always_capture_default();
  app.add_option(
         "--policies", settings.policies,
         "Filter policies to compare, as RocksDB takes them in filter_policy=, separated by "
         "commas; none means no filter")
      ->delimiter(',');
  auto* keys =
      app.add_option("--keys", settings.key_file, "Read the keys from this file, one a line");
  app.add_option("--synthetic", settings.synthetic_keys, "Make this many keys instead")
      ->excludes(keys)
      ->check(CLI::Range(std::uint64_t{100}, std::uint64_t{100'000'000}))
      ->always_capture_default(false);
  app.add_option("--stored", settings.stored_share, "Share of the keys that are in the store")
      ->check(CLI::Range(0.0001, 0.9999));
  app.add_option("--lookups", settings.lookups, "Lookups of absent keys, and of present ones")
      ->check(CLI::PositiveNumber);
  app.add_option("--sorted-runs", settings.sorted_runs, "Levels of the tree")
      ->check(CLI::Range(1, 8));
  app.add_option("--size-ratio", settings.size_ratio, "How many times larger each level is")
      ->check(CLI::Range(1, 100));
  app.add_option("--value-bytes", settings.value_bytes, "Bytes of a value")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--block-cache", settings.block_cache_bytes, "Bytes of the block cache")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--threads", settings.threads, "Threads that look keys up")
      ->check(CLI::Range(1, 64));
  app.add_option("--directory", settings.directory, "Make the databases in here, and remove them");
  app.add_option("--json", settings.json_file, "Write the results to this file as well")
      ->always_capture_default(false);
  app.add_option("--seed", settings.seed, "Of every random choice");
  app.add_flag("!--no-bloom-table", settings.bloom_table, "Leave Bloom's Table I out");
}

WorkloadResult MeasureWorkload(const Workload& workload, const std::string& policy_name,
                               const rocksdb::FilterPolicy* policy, const Database& database,
                               const KeySet& keys, const Settings& settings, Report& report,
                               Progress& progress) {
  const OpenDatabase open = database.OpenForReads(settings.block_cache_bytes);
  report.direct_reads &= open.direct_reads;
  Workload named = workload;
  named.name = policy_name + "  " + workload.name;
  WorkloadResult result{workload.name, workload.description,
                        Run(named, keys, open, settings, progress),
                        Predict(database.Tables(), keys, workload.order, policy)};
  // A filter is asked exactly when the key lies in its table's range and no run above has the key.
  if (result.measurement.AbsentChecks() != result.prediction.absent_checks) {
    throw WrongAnswer(
        fmt::format("{}: RocksDB counts {} checks of absent keys where the tree has {}", named.name,
                    result.measurement.AbsentChecks(), result.prediction.absent_checks));
  }
  return result;
}

PolicyResult MeasurePolicy(const std::string& name, const KeySet& keys,
                           const std::vector<Workload>& workloads, const Settings& settings,
                           Report& report, Progress& progress) {
  const auto policy = MakePolicy(name);
  progress.Begin(name + "  loading", 0);
  const Database database(settings, keys, policy);
  progress.End();
  PolicyResult result;
  result.policy = name;
  result.tables = database.Tables().size();
  result.load_cpu_us = database.LoadCpuPerKey();
  for (const Table& table : database.Tables()) {
    result.filter_bytes += table.filter_bytes;
    result.filter_keys += table.keys;
  }
  for (const Workload& workload : workloads) {
    result.workloads.push_back(
        MeasureWorkload(workload, name, policy.get(), database, keys, settings, report, progress));
  }
  return result;
}

void Measure(const Settings& settings, const std::string& command) {
  for (const std::string& policy : settings.policies) MakePolicy(policy);  // before any work
  std::unique_ptr<bench::OutputFile> json_file;
  if (!settings.json_file.empty())
    json_file = std::make_unique<bench::OutputFile>(settings.json_file);

  Progress progress;
  const KeySet keys = MakeKeySet(settings);
  Report report;
  report.command = command;
  report.source = keys.source;
  report.keys = keys.size();
  report.stored = keys.stored;
  report.rocksdb = bench::RocksDBVersion();
  report.cpu = bench::DescribeCpu();
  const std::vector<Workload> workloads = MakeWorkloads(keys, settings.lookups);
  for (const std::string& policy : settings.policies) {
    report.policies.push_back(MeasurePolicy(policy, keys, workloads, settings, report, progress));
  }
  if (settings.bloom_table) report.bloom_table = MeasureBloomTable(settings, keys, progress);
  progress.End();

  fmt::print("{}", report.Text(settings));
  if (json_file) json_file->Commit(report.Json().dump(2) + "\n");
}

int Main(int argc, char** argv) {
  Settings settings;
  CLI::App app(
      "Loads keys into RocksDB under each filter policy, makes the same lookups, and counts the "
      "disk "
      "reads that the filters avoid.",
      "readamp");
  DescribeArguments(app, settings);
  return bench::RunProgram(app, argc, argv, [&] {
    RegisterFilterPolicies();
    Measure(settings, bench::CommandLine("readamp", argc, argv));
  });
}

}  // namespace
}  // namespace exactbloom::readamp

int main(int argc, char** argv) { return exactbloom::readamp::Main(argc, argv); }
