// readamp: how many disk reads each filter policy avoids, on real keys, in RocksDB.
//
// For each policy it loads the same keys into a new database, makes the same lookups, and counts.
// bench/README.md says what is measured and how to read the report.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bloom_table.h"
#include "exactbloom/filter_policy.h"
#include "machine.h"
#include "output_file.h"
#include "policy_measurement.h"
#include "readamp/keys/key_set.h"
#include "readamp/keys/user_database.h"
#include "readamp/lookups/workload.h"
#include "readamp/report/readamp_report.h"
#include "readamp/tree/database.h"
#include "readamp_settings.h"
#include "support/argument_types.h"
#include "support/progress.h"
#include "support/run_program.h"

namespace exactbloom::readamp {
namespace {

using support::AddChoice;
using support::Bytes;
using support::Count;
using support::Number;
using support::OneOf;
using support::Share;

void DescribeKeys(CLI::App& app, ReadampSettings& settings) {
  const CLI::Validator count = Count(100, 100'000'000);
  auto* keys =
      app.add_option("--keys", settings.key_file, "Read the keys from this file, one per line");
  auto* synthetic =
      app.add_option("--synthetic", settings.synthetic_keys, "Make this many keys instead")
          ->excludes(keys)
          ->transform(count)
          ->always_capture_default(false);
  app.add_option("--from-db", settings.user_database,
                 "Take the keys of the RocksDB database in this directory instead, and its tree, "
                 "lengths of values, table options and filter policy, unless an option here says "
                 "otherwise; it is only read")
      ->excludes(keys)
      ->excludes(synthetic)
      ->always_capture_default(false);
  app.add_option("--sample", settings.sampled_keys, "The most keys to draw from that database")
      ->transform(count);
  app.add_option("--stored", settings.stored_share, "Share of the keys that are in the store")
      ->transform(Share(0.0001, 0.9999));
}

void DescribeLookups(CLI::App& app, ReadampSettings& settings) {
  app.add_option("--workloads", settings.workloads, "What to look up, separated by commas")
      ->delimiter(',')
      ->check(OneOf(WorkloadNames()));
  app.add_option("--lookups", settings.lookups, "Lookups per workload but hyphenation")
      ->transform(Count(1));
  app.add_option("--unfiltered-lookups", settings.unfiltered_lookups,
                 "The most lookups with the policy none, since each reads several blocks; 0: all")
      ->transform(Count());
  app.add_option("--zipf", settings.zipf_exponent, "Exponent of the workload zipf")
      ->transform(Number(0.0, 10.0));
  app.add_option("--points", settings.growth_points,
                 "Points of the workload growth, at equal numbers of written keys")
      ->transform(Count(1, 10'000));
  app.add_option("--threads", settings.threads, "Threads that look up keys")
      ->transform(Count(1, 64));
}

void DescribeTree(CLI::App& app, ReadampSettings& settings) {
  // The last one is taken from the user's database only.
  AddChoice(app, "--tree", settings.tree, {kTreeNames.begin(), kTreeNames.end() - 1},
            "How the tree of sorted runs is made");
  app.add_option("--sorted-runs", settings.sorted_runs, "Levels of a settled tree")
      ->transform(Count(1, 8));
  app.add_option("--size-ratio", settings.size_ratio, "How many times larger each level is")
      ->transform(Count(1, 100));
  app.add_option("--level0-files", settings.level0_files, "Files of a level0 tree")
      ->transform(Count(1, 1000));
  app.add_option("--level0-trigger", settings.level0_trigger,
                 "Files of level 0 that start a compaction of a loaded or universal tree")
      ->transform(Count(1, 1000));
  app.add_option("--write-buffer", settings.write_buffer_bytes,
                 "Bytes of a memtable of a loaded or universal tree")
      ->transform(Bytes());
  app.add_option("--value-bytes", settings.value_bytes, "Bytes per value")
      ->transform(Count(0, 1 << 20));
  AddChoice(app, "--filters", settings.partitioned_filters,
            {{"full", false}, {"partitioned", true}}, "One filter per table, or one per partition");
}

// Of filters, where none are there yet.
constexpr std::uint64_t kKeys = 1'000'000;

// With the memory of the first policy that has filters.
std::string LikeTheFirst(const std::string& policy, const std::vector<PolicyResult>& measured) {
  for (const PolicyResult& first : measured) {
    if (first.filter_keys == 0) continue;
    return WithEqualBytes(policy, first.filter_keys / first.tables, first.bits_per_key);
  }
  return WithEqualBytes(policy, kKeys, kDefaultBits);
}

void Measure(ReadampSettings settings, const CLI::App& app, const std::string& command) {
  Report report;
  if (!settings.user_database.empty()) {
    report.from_database = TakeSettings(
        ReadUserDatabase(settings.user_database),
        [&app](const char* option) { return app.count(option) > 0; }, &settings);
  }
  for (const std::string& policy : settings.policies) {  // before any work
    MakePolicy(WithEqualBytes(policy, kKeys, kDefaultBits));
  }
  OutputFile json_file(settings.json_file);
  Progress progress;
  const KeySet keys = MakeKeySet(settings);
  const std::vector<Workload> workloads = MakeWorkloads(keys, settings);
  report.command = command;
  report.source = keys.source;
  report.keys = keys.size();
  report.stored = keys.stored;
  report.rocksdb = RocksDBVersion();
  report.cpu = DescribeCpu();
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& policy : settings.policies) {
    report.policies.push_back(
        MeasurePolicy(LikeTheFirst(policy, report.policies), keys, workloads, settings, progress));
  }
  if (settings.bloom_table) report.bloom_table = MeasureBloomTable(settings, progress);
  progress.End();
  const auto elapsed = std::chrono::steady_clock::now() - start;
  report.seconds = std::chrono::duration<double>(elapsed).count();

  fmt::print("{}", report.Text(settings));
  json_file.Commit(report.Json(settings).dump(2) + "\n");
}

int Main(int argc, char** argv) {
  ReadampSettings settings;
  CLI::App app(
      "Loads keys into RocksDB under each filter policy, makes the same lookups, and counts the "
      "disk reads that the filters avoid.",
      "readamp");
  app.option_defaults()->always_capture_default();
  app.add_option(
         "--policies", settings.policies,
         "Filter policies to compare, as RocksDB takes them in filter_policy=, separated by "
         "commas; none means no filter. {equal_bytes} stands for the number that makes filters as "
         "large as those of the first policy that has some")
      ->delimiter(',')
      ->check(support::NotEmpty());
  DescribeKeys(app, settings);
  DescribeLookups(app, settings);
  DescribeTree(app, settings);
  app.add_option("--block-cache", settings.block_cache_bytes, "Bytes of the block cache")
      ->transform(Bytes());
  app.add_option("--directory", settings.directory, "Where the databases are made and removed");
  app.add_option("--json", settings.json_file, "Also write the results to this file")
      ->always_capture_default(false);
  app.add_flag("--details", settings.details, "Also print rates, reads and times of each workload");
  app.add_flag("--bloom-table", settings.bloom_table,
               "Also measure the reads saved in Bloom's Table I of 1970, with these keys");
  app.add_option("--seed", settings.seed, "Seed of every random choice")->transform(Count());
  return support::RunProgram(app, argc, argv, [&] {
    RegisterFilterPolicies();
    Measure(settings, app, support::CommandLine("readamp", argc, argv));
  });
}

}  // namespace
}  // namespace exactbloom::readamp

int main(int argc, char** argv) { return exactbloom::readamp::Main(argc, argv); }
