// readamp: how many disk reads each filter policy avoids, on real keys, in RocksDB.
//
// For each policy it loads the same keys into a new database, makes the same lookups, and counts.
// docs/readamp.md says what is measured and how to read the report.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "policy_measurement.h"
#include "readamp/keys/key_set.h"
#include "readamp/lookups/workload.h"
#include "readamp/report/bloom_table.h"
#include "readamp/report/readamp_report.h"
#include "readamp/tree/database.h"
#include "readamp_arguments.h"
#include "readamp_settings.h"
#include "support/machine.h"
#include "support/output_file.h"
#include "support/progress.h"
#include "support/run_program.h"

namespace exactbloom::readamp {
namespace {

void Measure(const Settings& settings, const std::string& command) {
  for (const std::string& policy : settings.policies) MakePolicy(policy);  // before any work
  std::unique_ptr<support::OutputFile> json_file;
  if (!settings.json_file.empty())
    json_file = std::make_unique<support::OutputFile>(settings.json_file);

  Progress progress;
  const KeySet keys = MakeKeySet(settings);
  const std::vector<Workload> workloads = MakeWorkloads(keys, settings);
  Report report;
  report.command = command;
  report.source = keys.source;
  report.keys = keys.size();
  report.stored = keys.stored;
  report.rocksdb = support::RocksDBVersion();
  report.cpu = support::DescribeCpu();
  for (const std::string& policy : settings.policies) {
    report.policies.push_back(MeasurePolicy(policy, keys, workloads, settings, progress));
    report.direct_reads &= report.policies.back().direct_reads;
  }
  if (settings.bloom_table) report.bloom_table = MeasureBloomTable(settings, keys, progress);
  progress.End();

  fmt::print("{}", report.Text(settings));
  if (json_file) json_file->Commit(report.Json(settings).dump(2) + "\n");
}

int Main(int argc, char** argv) {
  Settings settings;
  CLI::App app(
      "Loads keys into RocksDB under each filter policy, makes the same lookups, and counts the "
      "disk "
      "reads that the filters avoid.",
      "readamp");
  DescribeArguments(app, settings);
  return support::RunProgram(app, argc, argv, [&] {
    RegisterFilterPolicies();
    Measure(settings, support::CommandLine("readamp", argc, argv));
  });
}

}  // namespace
}  // namespace exactbloom::readamp

int main(int argc, char** argv) { return exactbloom::readamp::Main(argc, argv); }
