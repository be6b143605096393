// filter_benchmark: how long building and querying a filter takes, compared with RocksDB's own.
//
// All filters of a run hold the same keys in the same memory and are measured in turn; the report
// has ratios. bench/README.md says how to read them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmark_report.h"
#include "comparison.h"
#include "exactbloom/bloom_filter.h"
#include "loaded_filter.h"
#include "output_file.h"
#include "tool/support/argument_types.h"
#include "tool/support/progress.h"
#include "tool/support/run_program.h"

namespace exactbloom::filter_benchmark {
namespace {

using support::Count;

// The settings of the command line.
struct BenchmarkSettings {
  std::vector<std::uint64_t> keys = {10'000, 600'000, 10'000'000};
  std::vector<double> bits_per_key = {10, 14, 20};
  int repetitions = 31;
  LoadConditions load;
  std::string json_file;  // empty: none
};

// Builds of more keys than this take most of a run's time. They are repeated less often, and made
// for the first number of bits per key only.
constexpr std::uint64_t kManyKeys = 1'000'000;
constexpr int kRepetitionsOfManyKeys = 5;

// Measures the filters of each size: first their rates, then every kind against every peer.
class BenchmarkRun {
 public:
  BenchmarkRun(const BenchmarkSettings& settings, const std::string& command)
      : settings_(settings), peers_(PeerDesigns(&report_.missing_peer)) {
    report_.command = command;
    report_.repetitions = settings.repetitions;
    report_.block_offset = settings.load.block_offset;
  }

  void MeasureSize(std::uint64_t keys, double bits_per_key) {
    const std::string size = fmt::format("{} keys, {:g} bits per key", keys, bits_per_key);
    progress_.Begin(size + ": rates", layouts_.size() + peers_.size());
    std::vector<LoadedFilter> ours = Load(layouts_, keys, bits_per_key);
    std::vector<LoadedFilter> peers = Load(peers_, keys, bits_per_key);
    progress_.Begin(size + ": times", ours.size() * peers.size());
    for (LoadedFilter& peer : peers) {
      for (LoadedFilter& filter : ours) {
        CompareAll(filter, peer, bits_per_key);
        progress_.Add(1);
      }
    }
    progress_.End();
  }

  const BenchmarkReport& report() const { return report_; }

 private:
  std::vector<LoadedFilter> Load(const std::vector<FilterDesign>& designs, std::uint64_t keys,
                                 double bits_per_key) {
    std::vector<LoadedFilter> all;
    for (const FilterDesign& design : designs) {
      all.push_back(LoadFilter(design, keys, bits_per_key, settings_.load));
      progress_.Add(1);
    }
    return all;
  }

  void CompareAll(LoadedFilter& filter, LoadedFilter& peer, double bits_per_key) {
    for (const Operation& operation : kOperations) {
      const bool is_large_build = operation.ask == nullptr && filter.keys > kManyKeys;
      if (is_large_build && bits_per_key != settings_.bits_per_key.front()) continue;
      const int repetitions = is_large_build
                                  ? std::min(settings_.repetitions, kRepetitionsOfManyKeys)
                                  : settings_.repetitions;
      report_.rows.push_back({comparer_.Compare(operation, filter, peer, repetitions), peer.design,
                              filter.keys, bits_per_key, peer.rate.Rate(), filter.design,
                              std::string(KernelName()), filter.rate.Rate(),
                              filter.rate.exact->mean, operation.name});
    }
  }

  const BenchmarkSettings& settings_;
  BenchmarkReport report_;
  const std::vector<FilterDesign> layouts_ = OurDesigns();
  const std::vector<FilterDesign> peers_;
  FilterComparer comparer_;
  support::Progress progress_;
};

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
  app.add_option("--json", settings.json_file, "Also write the ratios to this file")
      ->always_capture_default(false);
}

int Main(int argc, char** argv) {
  BenchmarkSettings settings;
  CLI::App app("Compares the times to build and to query filters with RocksDB's own.",
               "filter_benchmark");
  DescribeArguments(app, settings);
  return support::RunProgram(app, argc, argv, [&] {
    BenchmarkRun run(settings, support::CommandLine("filter_benchmark", argc, argv));
    OutputFile json_file(settings.json_file);
    for (const std::uint64_t keys : settings.keys) {
      for (const double bits_per_key : settings.bits_per_key) run.MeasureSize(keys, bits_per_key);
    }
    fmt::print("{}", run.report().Text());
    json_file.Commit(run.report().Json().dump(2) + "\n");
  });
}

}  // namespace
}  // namespace exactbloom::filter_benchmark

int main(int argc, char** argv) { return exactbloom::filter_benchmark::Main(argc, argv); }
